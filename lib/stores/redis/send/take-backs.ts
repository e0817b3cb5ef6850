import { inRootContext } from '../../../core/async/root-context.js';
import { systemClock } from '../../../core/async/clock.js';
import type { Cancel } from '../../../core/async/clock.js';
import type { NamedLock } from '../keys/named-lock.js';
import type { RedisClient } from '../../../redis-client/redis-client.js';

/** Milliseconds between two looks at due entries. */
const EVERY = 250;
/** Milliseconds until the first repetition, twice as many each time. */
const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 4_000;
/** Answers of one server after which an earlier command can no longer arrive. */
const ENOUGH_ANSWERS = 2;
/** The oldest beyond these are left to their ttl. */
const MOST_KEPT = 10_000;

interface TakeBack {
  readonly name: string;
  /** Resolves `true` when it freed a lock. */
  readonly free: () => Promise<boolean>;
  readonly until: number;
  /** `Infinity` while it is in progress. */
  due: number;
  pause: number;
  answers: number;
}

/**
 * Frees locks whose request failed for the caller but may have been sent by ioredis all the same: it sends a command again after
 * a reconnect, and on a Cluster to the next master, also long after its caller got the error. Repeated until the server has
 * answered, and once more; on a Cluster until the ttl is over, for the node where the command still waits is unknown.
 */
export class TakeBacks {
  readonly #isCluster: boolean;
  readonly #canSend: () => boolean;
  readonly kept: ReadonlyMap<string, object>;
  readonly #kept = new Map<string, TakeBack>();
  #isClosed = false;
  #cancel: Cancel | undefined;

  /** While `canSend` is false, no attempt is made. */
  constructor(isCluster: boolean, canSend: () => boolean) {
    this.kept = this.#kept;
    this.#isCluster = isCluster;
    this.#canSend = canSend;
  }

  /** Calls `free` now, and as often as needed; after `close`, once. */
  add(held: NamedLock, free: () => Promise<boolean>): void {
    const name = nameOf(held);
    const until = systemClock.now() + held.request.ttl;
    const each = { name, free, until, due: Infinity, pause: FIRST_PAUSE, answers: 0 };
    this.#kept.delete(name);
    if (!this.#isClosed) this.#kept.set(name, each);
    if (this.#kept.size > MOST_KEPT) this.#kept.delete(this.#kept.keys().next().value!);
    void this.#try(each);
  }

  /** The same lock is requested again. */
  forget(held: NamedLock): void {
    this.#kept.delete(nameOf(held));
  }

  /** Again after `close`. */
  open(): void {
    this.#isClosed = false;
  }

  close(): void {
    this.#isClosed = true;
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
      each.answers = 0; // the state is unknown
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

function nameOf({ keys, value }: NamedLock): string {
  return `${keys[0]} ${value}`;
}

export function takeBacksOf(client: RedisClient): TakeBacks {
  const canSend = () => [undefined, 'wait', 'ready'].includes(client.status);
  return new TakeBacks(client.isCluster === true, canSend);
}
