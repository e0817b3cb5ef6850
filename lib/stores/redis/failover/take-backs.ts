import { inRootContext } from '../../../core/async/root-context.js';
import { systemClock } from '../../../core/clock.js';
import type { Cancel } from '../../../core/clock.js';

/** Milliseconds between two looks at what is due. */
const EVERY = 250;
/** Milliseconds until something is taken back once more, twice as many each time. */
const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 4_000;
/** Answers of one server after which a command that was sent before cannot come any more. */
const ENOUGH_ANSWERS = 2;
/** The oldest beyond these are left to their ttl. */
const MOST_KEPT = 10_000;

interface TakeBack {
  /** Resolves `true` when something was taken back. */
  readonly free: () => Promise<boolean>;
  readonly until: number;
  due: number;
  pause: number;
  answers: number;
}

/**
 * Takes back what callers were refused, and what ioredis may have sent all the same: it sends a command again after a reconnect, and on
 * a Cluster to the next master, also when its caller has long been told that it failed. Repeated until the server has answered, and
 * once more; on a Cluster until the ttl is over, for nobody knows at which node the command still waits.
 */
export class TakeBacks {
  readonly #isCluster: boolean;
  readonly #canSend: () => boolean;
  readonly #kept = new Set<TakeBack>();
  #cancel: Cancel | undefined;

  /** While `canSend` is false, nothing is tried. */
  constructor(isCluster: boolean, canSend: () => boolean) {
    this.#isCluster = isCluster;
    this.#canSend = canSend;
  }

  /** Calls `free` now, and as often as needed. `ttl` is what the request asked for. */
  add(free: () => Promise<boolean>, ttl: number): void {
    const until = systemClock.now() + ttl;
    void this.#try({ free, until, due: 0, pause: FIRST_PAUSE, answers: 0 });
  }

  close(): void {
    this.#kept.clear();
    this.#cancel?.();
    this.#cancel = undefined;
  }

  /** Never rejects. */
  async #try(each: TakeBack): Promise<void> {
    try {
      if (await each.free()) return;
      each.answers++;
    } catch {
      each.answers = 0; // nobody knows
    }
    const now = systemClock.now();
    if (this.#isCluster ? now >= each.until : each.answers >= ENOUGH_ANSWERS) return;
    each.due = now + each.pause;
    each.pause = Math.min(2 * each.pause, LONGEST_PAUSE);
    this.#keep(each);
  }

  #keep(each: TakeBack): void {
    this.#kept.add(each);
    if (this.#kept.size > MOST_KEPT) this.#kept.delete(this.#kept.values().next().value!);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#cancel) return;
    inRootContext(() => (this.#cancel = systemClock.schedule(EVERY, this.#look, true)));
  }

  readonly #look = (): void => {
    this.#cancel = undefined;
    const now = systemClock.now();
    for (const each of this.#canSend() ? [...this.#kept] : []) {
      if (each.due > now) continue;
      this.#kept.delete(each);
      void this.#try(each);
    }
    if (this.#kept.size > 0) this.#schedule();
  };
}
