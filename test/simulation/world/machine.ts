import { systemClock } from '../../../lib/core/async/clock.js';
import type { Clock } from '../../../lib/core/async/clock.js';
import { seeded } from '../../support/histories/history-random.js';
import type { World } from './world.js';

/** Milliseconds since 1970 at the begin of a run. */
const BEGIN = 1_750_000_000_000;

/** The arrivals at an event loop: timers run before messages are read, and immediates after them. */
type Phase = 'timer' | 'message';

export interface SimulatedTimer {
  /** By the monotonic clock. */
  readonly due: number;
  readonly callback: () => void;
  isOver: boolean;
  unref(): void;
}

/** The machine of one simulated process: its event loop and its clocks. */
export class Machine {
  readonly name: string;
  readonly random: () => number;
  /** The clock of the library, as this process has it. */
  readonly clock: Clock;
  isDead = false;
  /** How often it did not run for a while. */
  pauses = 0;
  /** Timers that are neither cancelled nor have run. */
  timers = 0;
  readonly #world: World;
  readonly #rate: number;
  readonly #held: Record<Phase, (() => void)[]> = { timer: [], message: [] };
  readonly #immediates: (() => void)[] = [];
  #pausedUntil = 0;
  #suspended = 0;
  #wallOffset: number;

  /** `rate`: how fast its monotonic clock is, about 1. */
  constructor(world: World, name: string, { seed = 0, rate = 1, wallOffset = 0 } = {}) {
    this.#world = world;
    this.name = name;
    this.random = seeded(seed);
    this.#rate = rate;
    this.#wallOffset = wallOffset;
    const SystemClock = systemClock.constructor as new () => Clock;
    this.clock = world.as(this, () => new SystemClock());
  }

  get isPaused(): boolean {
    return this.#world.now < this.#pausedUntil;
  }

  monotonic(): number {
    return 1_000 + (this.#world.now - this.#suspended) * this.#rate;
  }

  wall(): number {
    return Math.floor(this.time());
  }

  /** As `wall`, with a fraction. */
  time(): number {
    return BEGIN + this.#world.now + this.#wallOffset;
  }

  setTimeout(callback: () => void, ms: number): SimulatedTimer {
    const due = this.monotonic() + Math.max(1, ms);
    const timer = { due, callback, isOver: false, unref: () => undefined };
    this.timers++;
    this.#arm(timer);
    return timer;
  }

  clearTimeout(timer: SimulatedTimer): void {
    if (!timer.isOver) this.timers--;
    timer.isOver = true;
  }

  setImmediate(callback: () => void): void {
    this.#immediates.push(callback);
  }

  /** Sets its time of day. */
  setWallClock(by: number): void {
    this.#wallOffset += by;
  }

  crash(): void {
    this.isDead = true;
  }

  /** Nothing runs for `ms`, as after SIGSTOP. Suspended: its monotonic clock stands still, too. */
  pause(ms: number, isSuspended = false): void {
    if (this.isPaused) return;
    this.#pausedUntil = this.#world.now + ms;
    this.pauses++;
    this.#world.at(this.#pausedUntil, () => {
      if (isSuspended) this.#suspended += ms;
      return this.#resume();
    });
  }

  /** Something arrives at the event loop. */
  async take(phase: Phase, callback: () => void): Promise<void> {
    if (this.isDead) return;
    if (this.isPaused) return void this.#held[phase].push(callback);
    await this.#turn([callback]);
  }

  async #resume(): Promise<void> {
    if (this.isDead) return;
    const { timer, message } = this.#held;
    await this.#turn([...timer.splice(0), ...message.splice(0)]);
  }

  /** The callbacks, each with the promises that it sets off, and the immediates at the end. */
  async #turn(callbacks: (() => void)[]): Promise<void> {
    for (const callback of callbacks) await this.#world.step(this, callback);
    while (this.#immediates.length > 0) await this.#world.step(this, this.#immediates.shift()!);
  }

  #arm(timer: SimulatedTimer): void {
    const left = Math.max(0, timer.due - this.monotonic()) / this.#rate;
    this.#world.at(this.#world.now + left, async () => {
      if (!timer.isOver) await this.take('timer', () => this.#fire(timer));
    });
  }

  /** The machine may have been suspended since the timer was armed. */
  #fire(timer: SimulatedTimer): void {
    if (timer.isOver) return;
    if (timer.due - this.monotonic() > 0.001) return this.#arm(timer);
    this.clearTimeout(timer);
    timer.callback();
  }
}
