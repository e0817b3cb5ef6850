import { stat } from 'node:fs/promises';
import { FakeClock } from 'nest-holdfast/testing';
import { systemClock } from '../../../lib/core/async/clock';
import { sleep, waitAtMost } from '../../../lib/core/async/sleep';
import { watch } from '../support/outcome';

describe('sleep', () => {
  it('resolves when the time has passed, and not before', async () => {
    const clock = new FakeClock();
    const slept = watch(sleep(clock, 100));
    await clock.advance(99);
    expect(slept.status).toBe('pending');
    await clock.advance(1);
    expect(slept.status).toBe('fulfilled');
    expect(clock.pendingTimers).toBe(0);
  });

  it('resolves as soon as its signal aborts, and leaves no timer behind', async () => {
    const clock = new FakeClock();
    const controller = new AbortController();
    const slept = watch(sleep(clock, 100, controller.signal));
    expect(clock.pendingTimers).toBe(1);
    controller.abort(new Error('never seen'));
    await clock.advance(0);
    expect(slept.status).toBe('fulfilled');
    expect(clock.pendingTimers).toBe(0);
  });

  it('does not begin when its signal has aborted', async () => {
    const clock = new FakeClock();
    await sleep(clock, 100, AbortSignal.abort());
    expect(clock.pendingTimers).toBe(0);
  });

  it('does not listen to the signal any more when it is over', async () => {
    const clock = new FakeClock();
    const { signal } = new AbortController();
    const remove = jest.spyOn(signal, 'removeEventListener');
    const add = jest.spyOn(signal, 'addEventListener');
    void sleep(clock, 100, signal);
    await clock.advance(100);
    expect(add).toHaveBeenCalledTimes(1);
    expect(remove).toHaveBeenCalledWith('abort', add.mock.calls[0]![1]);
  });
});

describe('waitAtMost', () => {
  it('says that the answer has settled, and leaves no timer behind', async () => {
    const clock = new FakeClock();
    const failed = Promise.reject(new Error('for the caller'));
    expect(await waitAtMost(clock, 100, Promise.resolve())).toBe(true);
    expect(await waitAtMost(clock, 100, failed)).toBe(true);
    expect(clock.pendingTimers).toBe(0);
  });

  it('says that the answer is late when the time has passed, and not before', async () => {
    const clock = new FakeClock();
    const waited = watch(waitAtMost(clock, 100, new Promise(() => undefined)));
    await clock.advance(99);
    expect(waited.status).toBe('pending');
    await clock.advance(1);
    expect(waited).toMatchObject({ status: 'fulfilled', value: false });
  });

  it('reads an answer that arrived while the process was blocked before it gives up', async () => {
    await new Promise(setImmediate); // timers come next, then what has arrived
    const answer = stat(__filename);
    const waited = waitAtMost(systemClock, 10, answer);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
    expect(await waited).toBe(true);
  });
});

describe('systemClock', () => {
  // The delays that it hands to Node, without waiting for Node.
  const setTimeoutSpy = jest.spyOn(globalThis, 'setTimeout');
  const clearTimeoutSpy = jest.spyOn(globalThis, 'clearTimeout');
  const unref = jest.fn();

  beforeEach(() => {
    setTimeoutSpy.mockReset().mockReturnValue({ unref } as unknown as NodeJS.Timeout);
    clearTimeoutSpy.mockReset();
    unref.mockReset();
  });

  afterEach(() => jest.useRealTimers());
  afterAll(() => jest.restoreAllMocks());

  it('goes by the monotonic clock', () => {
    const before = systemClock.now();
    const monotonic = systemClock.monotonic!();
    const sum = monotonic + before;
    expect(systemClock.now() + systemClock.monotonic!()).toBeGreaterThanOrEqual(sum);
    expect(monotonic).toBeLessThanOrEqual(performance.now());
  });

  it('counts what the time of day runs ahead of it, and not what it is set back', () => {
    const before = systemClock.now();
    const monotonic = systemClock.monotonic!();
    const wall = jest.spyOn(Date, 'now');
    try {
      const real = performance.timeOrigin + performance.now();
      wall.mockReturnValue(real + 3_600_000);
      expect(systemClock.now() - before).toBeGreaterThan(3_599_000);
      expect(systemClock.monotonic!() - monotonic).toBeLessThan(3_599_000);
      wall.mockReturnValue(real - 3_600_000);
      expect(systemClock.now() - before).toBeGreaterThan(3_599_000);
    } finally {
      wall.mockRestore();
    }
  });

  it('reads clocks that a test has put in their place', () => {
    jest.useFakeTimers();
    const before = systemClock.now();
    jest.advanceTimersByTime(5_000);
    expect(Math.round(systemClock.now() - before)).toBe(5_000);
  });

  it.each([
    [10, 10],
    [10.1, 11], // too early is worse than too late
    [0, 0],
    [-5, 0],
    [1_000, 1_000],
  ])('schedules %d ms as %d', (ms, delay) => {
    const callback = () => undefined;
    systemClock.schedule(ms, callback);
    expect(setTimeoutSpy).toHaveBeenCalledWith(callback, delay);
  });

  it.each([1_001, 30_000, 2_147_483_648, Infinity])(
    'looks at the clock each second while %d ms pass: Node may count none of them',
    (ms) => {
      const callback = () => undefined;
      systemClock.schedule(ms, callback);
      expect(setTimeoutSpy).toHaveBeenCalledWith(expect.any(Function), 1_000);
      expect(setTimeoutSpy).not.toHaveBeenCalledWith(callback, expect.anything());
    },
  );

  it('calls back when a long time has passed, for any part of it that the timers of Node have seen', () => {
    const called = jest.fn();
    const wall = jest.spyOn(Date, 'now');
    const fire = () => setTimeoutSpy.mock.lastCall![0]();
    try {
      const real = performance.timeOrigin + performance.now();
      wall.mockReturnValue(real + 7_200_000);
      systemClock.schedule(30_000, called, true);
      fire();
      expect(setTimeoutSpy).toHaveBeenLastCalledWith(expect.any(Function), 1_000);
      expect(unref).toHaveBeenCalledTimes(2);
      wall.mockReturnValue(real + 7_200_000 + 40_000); // suspended
      fire();
      expect(called).not.toHaveBeenCalled();
      expect(setTimeoutSpy).toHaveBeenLastCalledWith(called, 0);
    } finally {
      wall.mockRestore();
    }
  });

  it('takes back a timer that has looked', () => {
    const first = { unref } as unknown as NodeJS.Timeout;
    const second = { unref } as unknown as NodeJS.Timeout;
    setTimeoutSpy.mockReturnValueOnce(first).mockReturnValueOnce(second);
    const cancel = systemClock.schedule(30_000, () => undefined);
    setTimeoutSpy.mock.lastCall![0]();
    cancel();
    expect(clearTimeoutSpy.mock.lastCall![0]).toBe(second);
  });

  it('keeps the process alive, but not for what happens in the background', () => {
    systemClock.schedule(1, () => undefined);
    systemClock.schedule(1, () => undefined, false);
    expect(unref).not.toHaveBeenCalled();
    systemClock.schedule(1, () => undefined, true);
    expect(unref).toHaveBeenCalledTimes(1);
  });

  it('takes back what was scheduled', () => {
    const timer = { unref } as unknown as NodeJS.Timeout;
    setTimeoutSpy.mockReturnValue(timer);
    const cancel = systemClock.schedule(1, () => undefined);
    expect(clearTimeoutSpy).not.toHaveBeenCalled();
    cancel();
    expect(clearTimeoutSpy).toHaveBeenCalledWith(timer);
  });
});

describe('FakeClock', () => {
  it('starts where it is told and stands still', () => {
    expect(new FakeClock().now()).toBe(0);
    expect(new FakeClock(5).now()).toBe(5);
  });

  it('runs what falls due in the order of time, each at its own moment', async () => {
    const clock = new FakeClock(1_000);
    const ran: string[] = [];
    const at = (ms: number) => clock.schedule(ms, () => ran.push(`${ms} at ${clock.now()}`));
    at(30);
    at(10);
    at(20);
    at(-5);
    at(31);
    await clock.advance(30);
    expect(ran).toEqual(['-5 at 1000', '10 at 1010', '20 at 1020', '30 at 1030']);
    expect(clock.now()).toBe(1_030);
    expect(clock.pendingTimers).toBe(1);
  });

  it('runs timers of one moment in the order in which they were scheduled', async () => {
    const clock = new FakeClock();
    const ran: number[] = [];
    for (const each of [1, 2, 3]) clock.schedule(10, () => ran.push(each));
    await clock.advance(10);
    expect(ran).toEqual([1, 2, 3]);
  });

  it('lets promises settle before and between the timers', async () => {
    const clock = new FakeClock();
    const ran: string[] = [];
    void Promise.resolve().then(() => clock.schedule(1, () => ran.push('first')));
    clock.schedule(
      2,
      () => void Promise.resolve().then(() => clock.schedule(1, () => ran.push('x'))),
    );
    await clock.advance(3);
    expect(ran).toEqual(['first', 'x']);
  });

  it('does not run what was cancelled', async () => {
    const clock = new FakeClock();
    const run = jest.fn();
    const cancel = clock.schedule(10, run);
    cancel();
    cancel();
    await clock.advance(20);
    expect(run).not.toHaveBeenCalled();
  });

  it('jumps without running anything; what is overdue runs late', async () => {
    const clock = new FakeClock();
    const seen: number[] = [];
    clock.schedule(10, () => seen.push(clock.now()));
    clock.jump(100);
    expect(seen).toEqual([]);
    expect(clock.now()).toBe(100);
    await clock.advance(0);
    expect(seen).toEqual([100]);
  });

  it('is suspended: the monotonic clock stands still, and what is overdue runs late', async () => {
    const clock = new FakeClock(1_000);
    const seen: number[] = [];
    clock.schedule(10, () => seen.push(clock.now()));
    clock.suspend(100);
    expect([clock.now(), clock.monotonic(), seen]).toEqual([1_100, 1_000, []]);
    await clock.advance(5);
    expect([clock.now(), clock.monotonic(), seen]).toEqual([1_105, 1_005, [1_100]]);
  });
});
