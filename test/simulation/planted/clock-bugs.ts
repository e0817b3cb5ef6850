import type { Clock } from '../../../lib/core/async/clock.js';
import type { Bug } from '../bug.js';
import type { Machine } from '../world/machine.js';

/** Milliseconds that the calls to a store took, which its validity does not count. */
const uncounted = new WeakMap<Machine, { calls: number; since: number; total: number }>();

/** Validity counts from the reply, and not from the request. */
export const countsFromTheReply: Bug = {
  clock(machine) {
    const own = { calls: 0, since: 0, total: 0 };
    uncounted.set(machine, own);
    const open = () => (own.calls > 0 ? machine.clock.now() - own.since : 0);
    return changed(machine.clock, { now: () => machine.clock.now() - own.total - open() });
  },
  store: (store, machine) => ({
    name: store.name,
    supports: store.supports,
    tryAcquire: (request) => aside(machine, store.tryAcquire(request)),
  }),
};

async function aside<T>(machine: Machine, answer: Promise<T>): Promise<T> {
  const own = uncounted.get(machine)!;
  if (own.calls++ === 0) own.since = machine.clock.now();
  try {
    return await answer;
  } finally {
    if (--own.calls === 0) own.total += machine.clock.now() - own.since;
  }
}

/** Validity goes by the time of day. */
export const trustsTheWallClock: Bug = {
  clock: (machine) => changed(machine.clock, { now: () => machine.wall() }),
};

/** Validity goes by a clock that stands still while the machine is suspended. */
export const forgetsSuspensions: Bug = {
  clock: (machine) => changed(machine.clock, { now: () => machine.monotonic() }),
};

/** The signal of a loss comes 1.5 s late. */
export const tellsLossesLate: Bug = {
  clock: (machine) =>
    changed(machine.clock, {
      schedule: (ms, callback, isBackground) =>
        machine.clock.schedule(ms + (isBackground ? 1_500 : 0), callback, isBackground),
    }),
};

/** Timers are left when they are no longer needed. */
export const leavesTimers: Bug = {
  clock: (machine) =>
    changed(machine.clock, {
      schedule: (ms, callback, isBackground) => {
        machine.clock.schedule(ms, callback, isBackground);
        return () => undefined;
      },
    }),
};

function changed(clock: Clock, change: Partial<Clock>): Clock {
  return {
    now: () => clock.now(),
    schedule: (ms, callback, isBackground) => clock.schedule(ms, callback, isBackground),
    ...change,
  };
}
