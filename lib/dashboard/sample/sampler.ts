import { systemClock } from '../../core/async/clock.js';
import type { Clock } from '../../core/async/clock.js';
import { inRootContext } from '../../core/async/root-context.js';
import type { LockInspection } from '../../core/contract/lock-store.js';
import type { LockService } from '../../core/lock.service.js';
import { Sample } from './sample.js';
import { StoreWalk } from './store-walk.js';

/** Milliseconds from the end of a round to the start of the next. */
export const EVERY = 2_000;
/** Milliseconds after which the first visitor sees the findings of the round so far. */
const FIRST_WITHIN = 250;
/** Locks of one round. */
const MOST_LOCKS = 10_000;

export interface Viewer {
  /** A key to ask the store for. */
  readonly key: string | undefined;
  /** Called at once when there is a sample, and after each round. Must not throw. */
  see(sample: Sample): void;
}

/** Asks the store in rounds while pages are open, however many there are, and never otherwise. One for each `LockService`. */
export class Sampler {
  readonly #locks: LockService;
  readonly #clock: Clock;
  readonly #limit: number;
  readonly #viewers = new Set<Viewer>();
  #last: Sample | undefined;
  #isInRound = false;
  #hasPause = false;

  constructor(locks: LockService, clock: Clock = systemClock, limit = MOST_LOCKS) {
    this.#locks = locks;
    this.#clock = clock;
    this.#limit = limit;
  }

  /** Calling the result ends it. */
  watch(viewer: Viewer): () => void {
    if (this.#last) viewer.see(this.#last);
    this.#viewers.add(viewer);
    if (!this.#isInRound && !this.#hasPause) inRootContext(() => void this.#round());
    return () => void this.#viewers.delete(viewer);
  }

  /** The sample of a whole round. */
  once(key: string | undefined): Promise<Sample> {
    return new Promise((resolve) => {
      const see = (sample: Sample) => {
        if (sample.isPartial) return;
        resolve(sample);
        queueMicrotask(() => leave()); // it may be called before `watch` returns
      };
      const leave = this.watch({ key, see });
    });
  }

  async #round(): Promise<void> {
    this.#isInRound = true;
    const walk = new StoreWalk(this.#locks, this.#limit);
    const inspections = new Map<string, LockInspection | undefined>();
    const sample = (isPartial: boolean) =>
      this.#show(new Sample(this.#locks, walk, inspections, isPartial));
    const showFirst = () => !this.#last && sample(true);
    const cancel = this.#clock.schedule(FIRST_WITHIN, showFirst, true);
    await Promise.all([
      walk.run(this.#clock, () => this.#viewers.size > 0),
      ...this.#keys().map((key) => this.#inspect(key, inspections)),
    ]);
    cancel();
    this.#isInRound = false;
    sample(false);
    this.#pause();
  }

  #show(sample: Sample): void {
    this.#last = sample;
    for (const viewer of this.#viewers) viewer.see(sample);
  }

  /** The sample is kept that long, so that a page that is opened anew does not ask the store more often. */
  #pause(): void {
    this.#hasPause = true;
    const end = () => {
      this.#hasPause = false;
      if (this.#viewers.size > 0) void this.#round();
      else this.#last = undefined;
    };
    this.#clock.schedule(EVERY, end, true);
  }

  #keys(): string[] {
    return [...new Set([...this.#viewers].flatMap(({ key }) => key ?? []))];
  }

  /** Where the store does not answer, the walk tells why. */
  async #inspect(key: string, into: Map<string, LockInspection | undefined>): Promise<void> {
    try {
      into.set(key, await this.#locks.inspect(key));
    } catch {
      // the lock is shown as it was listed
    }
  }
}
