import * as fc from 'fast-check';
import type { Clock } from 'nest-holdfast/core';
import { FakeClock } from 'nest-holdfast/testing';
import { systemClock } from '../../../lib/core/async/clock';
import { TimerQueue } from '../../../lib/core/async/timer-queue';
import type { QueuedTimer } from '../../../lib/core/async/timer-queue';

describe('TimerQueue', () => {
  let clock: FakeClock;
  let timers: TimerQueue;
  let ran: (string | number)[];

  beforeEach(() => {
    clock = new FakeClock(1_000);
    timers = new TimerQueue(clock);
    ran = [];
  });

  const add = (due: number) => timers.add(due, () => ran.push(due));

  it('has no timer of the clock while it is empty', async () => {
    expect(clock.pendingTimers).toBe(0);
    add(1_010);
    expect(clock.pendingTimers).toBe(1);
    await clock.advance(10);
    expect(clock.pendingTimers).toBe(0);
  });

  it('leaves a timer of the clock to run where it may, for no longer than that, and uses it for what comes next', async () => {
    const schedule = jest.spyOn(clock, 'schedule');
    timers = new TimerQueue(clock, 50);
    timers.remove(add(2_000));
    expect(clock.pendingTimers).toBe(1);
    add(1_060);
    expect(schedule.mock.calls.map(([ms]) => ms)).toEqual([50]);
    await clock.advance(60);
    expect(ran).toEqual([1_060]);
    timers.remove(add(2_000));
    await clock.advance(50);
    expect(clock.pendingTimers).toBe(0);
  });

  it('runs everything in the order of its due time, at that time', async () => {
    for (const due of [1_030, 1_010, 1_020]) add(due);
    await clock.advance(9);
    expect(ran).toEqual([]);
    await clock.advance(1);
    expect(ran).toEqual([1_010]);
    await clock.advance(10);
    expect(ran).toEqual([1_010, 1_020]);
    await clock.advance(100);
    expect(ran).toEqual([1_010, 1_020, 1_030]);
  });

  it('runs what is overdue at once', async () => {
    add(500);
    await clock.advance(0);
    expect(ran).toEqual([500]);
  });

  it('has one timer of the clock for many of its own, and moves it to an earlier time only', () => {
    const schedule = jest.spyOn(clock, 'schedule');
    for (const due of [1_020, 1_030, 1_010, 1_040, 1_010]) add(due);
    expect(schedule.mock.calls.map(([ms]) => ms)).toEqual([20, 10]);
    expect(clock.pendingTimers).toBe(1);
    expect(timers.size).toBe(5);
  });

  it('its timer does not keep the process alive', () => {
    const schedule = jest.spyOn<Clock, 'schedule'>(clock, 'schedule');
    add(1_010);
    expect(schedule).toHaveBeenCalledWith(10, expect.any(Function), true);
  });

  it('takes its timer back when the last entry is removed', () => {
    const [first, second] = [add(1_010), add(1_020)];
    timers.remove(first);
    expect(clock.pendingTimers).toBe(1);
    timers.remove(second);
    expect(clock.pendingTimers).toBe(0);
    expect(timers.size).toBe(0);
  });

  it('a timer that fires too early, because the first entry was removed, runs nothing', async () => {
    const first = add(1_010);
    add(1_020);
    timers.remove(first);
    await clock.advance(19);
    expect(ran).toEqual([]);
    expect(clock.pendingTimers).toBe(1);
    await clock.advance(1);
    expect(ran).toEqual([1_020]);
  });

  it('removing twice, or after it has run, does nothing', async () => {
    const first = add(1_010);
    await clock.advance(10);
    const second = add(1_020);
    timers.remove(first);
    expect(timers.size).toBe(1);
    timers.remove(second);
    timers.remove(second);
    add(1_030);
    timers.remove(second);
    expect(timers.size).toBe(1);
  });

  it('can be armed again after it was empty', async () => {
    timers.remove(add(1_010));
    add(1_050);
    add(1_040);
    await clock.advance(45);
    expect(ran).toEqual([1_040]);
  });

  it('an entry that is never due costs no timer', async () => {
    const never = add(Infinity);
    expect(clock.pendingTimers).toBe(0);
    add(1_010);
    await clock.advance(20);
    expect(ran).toEqual([1_010]);
    expect(clock.pendingTimers).toBe(0);
    timers.remove(never);
    expect(timers.size).toBe(0);
  });

  it('callbacks may add and remove entries, also those that are due', async () => {
    const doomed = timers.add(1_012, () => ran.push('removed'));
    timers.add(1_010, () => {
      ran.push('first');
      timers.remove(doomed);
      timers.add(1_010, () => ran.push('added when due'));
      timers.add(1_020, () => ran.push('added for later'));
    });
    clock.jump(15);
    await clock.advance(0);
    expect(ran).toEqual(['first', 'added when due']);
    await clock.advance(5);
    expect(ran).toEqual(['first', 'added when due', 'added for later']);
  });

  it('entries that are still due when the first callback takes long run with it', async () => {
    timers.add(1_010, () => ran.push('first'));
    timers.add(1_015, () => ran.push('second'));
    clock.jump(15);
    await clock.advance(0);
    expect(ran).toEqual(['first', 'second']);
  });
});

type Step =
  | { readonly kind: 'add'; readonly after: number }
  | { readonly kind: 'remove'; readonly which: number }
  | { readonly kind: 'advance'; readonly ms: number };

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant('add' as const),
        after: fc.integer({ min: 1, max: 50 }),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant('remove' as const), which: fc.nat(40) }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('advance' as const), ms: fc.nat(20) }) },
  ),
  { maxLength: 60 },
);

interface ModelEntry {
  readonly id: number;
  readonly due: number;
  readonly timer: QueuedTimer;
}

it.each([Infinity, 20])(
  'TimerQueue does what a plain list would do, with timers of %d ms',
  async (longest) => {
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const clock = new FakeClock();
        const timers = new TimerQueue(clock, longest);
        const ran: number[] = [];
        const everAdded: ModelEntry[] = [];
        let model: ModelEntry[] = [];
        for (const step of all) {
          if (step.kind === 'add') {
            const id = everAdded.length;
            const due = clock.now() + step.after;
            const timer = timers.add(due, () => ran.push(id));
            model.push({ id, due, timer });
            everAdded.push(model.at(-1)!);
          } else if (step.kind === 'remove') {
            const entry = everAdded[step.which];
            if (entry) timers.remove(entry.timer);
            model = model.filter((each) => each !== entry);
          } else {
            ran.length = 0;
            await clock.advance(step.ms);
            const due = model.filter((each) => each.due <= clock.now());
            model = model.filter((each) => each.due > clock.now());
            const times = ran.map((id) => everAdded[id]!.due);
            expect(times).toEqual(due.map((each) => each.due).toSorted((a, b) => a - b));
            expect(new Set(ran)).toEqual(new Set(due.map(({ id }) => id)));
          }
          expect(timers.size).toBe(model.length);
          const left = longest < Infinity ? Math.min(clock.pendingTimers, 1) : 0;
          expect(clock.pendingTimers).toBe(model.length > 0 ? 1 : left);
        }
      }),
      { numRuns: 300 },
    );
  },
);

it('timers that are due together run in slices, in their order, and let others run in between', async () => {
  const turns: number[] = [];
  let inTurn = 0;
  const queue = new TimerQueue(systemClock);
  const due = systemClock.now() - 1;
  const count = 5_000;
  const ran: number[] = [];
  await new Promise<void>((resolve) => {
    const look = () => {
      turns.push(inTurn);
      inTurn = 0;
      if (ran.length < count) setImmediate(look);
      else resolve();
    };
    for (let n = 0; n < count; n++) queue.add(due, () => (inTurn++, ran.push(n)));
    setImmediate(look);
  });
  expect(new Set(ran).size).toBe(count);
  expect(Math.max(...turns)).toBeLessThanOrEqual(1_000);
});
