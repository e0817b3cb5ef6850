import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as nextTurn } from 'node:timers';
import { systemClock } from '../../../lib/core/async/clock.js';
import { EventQueue } from './event-queue.js';
import type { Machine, SimulatedTimer } from './machine.js';

/** Events of one run, beyond which something turns in a circle. */
const MOST_EVENTS = 200_000;

/** Virtual time, the events in it, and the machine whose code runs at the moment. One at a time. */
export class World {
  /** Milliseconds since the begin. No machine knows it. */
  now = 0;
  /** Errors that would have ended a process. */
  readonly uncaught: string[] = [];
  /** Called with each line of the trace. */
  readonly trace: ((line: string) => void) | undefined;
  readonly #events = new EventQueue();
  #stamp = 0;

  constructor(trace?: (line: string) => void) {
    this.trace = trace;
  }

  /** The time, larger with every call. */
  stamp(): number {
    this.#stamp = Math.max(this.#stamp + 1e-6, this.now);
    return this.#stamp;
  }

  at(time: number, run: () => void | Promise<void>): void {
    this.#events.add(Math.max(time, this.now), run);
  }

  say(who: string, what: string): void {
    this.trace?.(`${this.now.toFixed(3).padStart(10)} ${who}: ${what}`);
  }

  /** Lets everything happen until `isOver`, or until `end`. */
  async run(end: number, isOver: () => boolean): Promise<void> {
    for (let events = 0; this.#events.next <= end && !isOver(); events++) {
      if (events > MOST_EVENTS) throw new Error(`more than ${MOST_EVENTS} events`);
      const event = this.#events.take();
      this.now = event.at;
      await event.run();
    }
  }

  /** Runs the code of a machine, and all promises that it sets off. */
  async step(machine: Machine, callback: () => void): Promise<void> {
    if (machine.isDead) return;
    running = machine;
    try {
      callback();
    } catch (error) {
      this.uncaught.push(String(error));
    }
    await new Promise<void>((resolve) => void nextTurn(resolve));
    running = undefined;
  }

  /** The result of code of a machine that sets off nothing. */
  as<T>(machine: Machine, make: () => T): T {
    const before = running;
    running = machine;
    try {
      return make();
    } finally {
      running = before;
    }
  }
}

let running: Machine | undefined;

/** The machine whose code runs now. */
export function runningMachine(): Machine {
  if (!running) throw new Error('code of no machine asks for the time');
  return running;
}

/**
 * Replaces what the library reads of the real machine by that of the simulated one that runs: clocks, timers and random numbers.
 * Returns how to put all of it back.
 */
export function replaceMachine(): () => void {
  const performance = {
    now: () => runningMachine().monotonic(),
    timeOrigin: 1_700_000_000_000,
  };
  const fakes: [object, Record<string, unknown>][] = [
    [
      globalThis,
      {
        performance,
        setTimeout: (callback: () => void, ms: number) => runningMachine().setTimeout(callback, ms),
        clearTimeout: (timer: SimulatedTimer | undefined) =>
          timer && runningMachine().clearTimeout(timer),
        setImmediate: (callback: () => void) => runningMachine().setImmediate(callback),
      },
    ],
    [Date, { now: () => runningMachine().wall() }],
    [Math, { random: () => runningMachine().random() }],
    [
      systemClock,
      {
        now: () => runningMachine().clock.now(),
        monotonic: () => runningMachine().monotonic(),
        schedule: (ms: number, callback: () => void, isBackground: boolean) =>
          runningMachine().clock.schedule(ms, callback, isBackground),
      },
    ],
  ];
  const contexts = collectContexts();
  const restores = fakes.map(([target, fake]) => replaced(target, fake));
  return () => [...restores, contexts].forEach((restore) => restore());
}

type Run = AsyncLocalStorage<unknown>['run'];

/** The async contexts of all services that are made from now on: without their end, each would slow down every later promise. */
function collectContexts(): () => void {
  const run: Run = Reflect.get(AsyncLocalStorage.prototype, 'run');
  const used = new Set<AsyncLocalStorage<unknown>>();
  const restore = replaced(AsyncLocalStorage.prototype, {
    run(this: AsyncLocalStorage<unknown>, ...args: Parameters<Run>) {
      used.add(this);
      return run.apply(this, args);
    },
  });
  return () => {
    restore();
    for (const context of used) context.disable();
  };
}

function replaced(target: object, fakes: Record<string, unknown>): () => void {
  const names = Object.keys(fakes);
  const before = names.map((name) => Object.getOwnPropertyDescriptor(target, name));
  for (const name of names)
    Object.defineProperty(target, name, { value: fakes[name], configurable: true, writable: true });
  return () =>
    names.forEach((name, index) => {
      const descriptor = before[index];
      if (descriptor) Object.defineProperty(target, name, descriptor);
      else Reflect.deleteProperty(target, name);
    });
}
