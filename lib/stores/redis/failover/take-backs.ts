import { inRootContext } from '../../../core/async/root-context.js';
import { systemClock } from '../../../core/clock.js';
import type { Cancel } from '../../../core/clock.js';
import type { Held } from '../held.js';
import type { RedisClient } from '../redis-client.js';

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
  readonly name: string;
  /** Resolves `true` when something was taken back. */
  readonly free: () => Promise<boolean>;
  readonly until: number;
  /** `Infinity` while it is under way. */
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
  readonly #kept = new Map<string, TakeBack>();
  #cancel: Cancel | undefined;

  /** While `canSend` is false, nothing is tried. */
  constructor(isCluster: boolean, canSend: () => boolean) {
    this.#isCluster = isCluster;
    this.#canSend = canSend;
  }

  /** Calls `free` now, and as often as needed. */
  add(held: Held, free: () => Promise<boolean>): void {
    const name = nameOf(held);
    const until = systemClock.now() + held.request.ttl;
    const each = { name, free, until, due: Infinity, pause: FIRST_PAUSE, answers: 0 };
    this.#kept.delete(name);
    this.#kept.set(name, each);
    if (this.#kept.size > MOST_KEPT) this.#kept.delete(this.#kept.keys().next().value!);
    void this.#try(each);
  }

  /** The same is asked for once more. */
  forget(held: Held): void {
    if (this.#kept.size > 0) this.#kept.delete(nameOf(held));
  }

  close(): void {
    this.#kept.clear();
    this.#cancel?.();
    this.#cancel = undefined;
  }

  /** Never rejects. */
  async #try(each: TakeBack): Promise<void> {
    each.due = Infinity;
    let isDone = false;
    try {
      isDone = await each.free();
      each.answers++;
    } catch {
      each.answers = 0; // nobody knows
    }
    if (this.#kept.get(each.name) !== each) return;
    const now = systemClock.now();
    isDone ||= this.#isCluster ? now >= each.until : each.answers >= ENOUGH_ANSWERS;
    if (isDone) return void this.#kept.delete(each.name);
    each.due = now + each.pause;
    each.pause = Math.min(2 * each.pause, LONGEST_PAUSE);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#cancel) return;
    inRootContext(() => (this.#cancel = systemClock.schedule(EVERY, this.#look, true)));
  }

  readonly #look = (): void => {
    this.#cancel = undefined;
    const now = systemClock.now();
    const due = [...this.#kept.values()].filter((each) => each.due <= now);
    if (this.#canSend()) for (const each of due) void this.#try(each);
    const isBusy = [...this.#kept.values()].some((each) => each.due < Infinity);
    if (isBusy) this.#schedule();
  };
}

function nameOf({ keys, value }: Held): string {
  return `${keys[0]} ${value}`;
}

export function takeBacksOf(client: RedisClient): TakeBacks {
  const canSend = () => [undefined, 'wait', 'ready'].includes(client.status);
  return new TakeBacks(client.isCluster === true, canSend);
}
