import { FakeClock } from 'nest-holdfast/testing';
import { sleep, systemClock } from '../../lib/core/clock';
import { watch } from './support/outcome';

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

describe('systemClock', () => {
  // What it hands to Node, without waiting for Node.
  const setTimeoutSpy = jest.spyOn(globalThis, 'setTimeout');
  const clearTimeoutSpy = jest.spyOn(globalThis, 'clearTimeout');
  const unref = jest.fn();

  beforeEach(() => {
    setTimeoutSpy.mockReset().mockReturnValue({ unref } as unknown as NodeJS.Timeout);
    clearTimeoutSpy.mockReset();
    unref.mockReset();
  });

  afterAll(() => jest.restoreAllMocks());

  it('is monotonic', () => {
    const before = performance.now();
    const now = systemClock.now();
    expect(now).toBeGreaterThanOrEqual(before);
    expect(now).toBeLessThanOrEqual(performance.now());
  });

  it.each([
    [10, 10],
    [10.1, 11], // too early is worse than too late
    [0, 0],
    [-5, 0],
    [2_147_483_647, 2_147_483_647],
    [2_147_483_648, 2_147_483_647], // Node would take it for 1
    [Infinity, 2_147_483_647],
  ])('schedules %d ms as %d', (ms, delay) => {
    const callback = () => undefined;
    systemClock.schedule(ms, callback);
    expect(setTimeoutSpy).toHaveBeenCalledWith(callback, delay);
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
});
