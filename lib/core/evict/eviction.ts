import { sleep } from '../async/sleep.js';
import type { Clock } from '../async/clock.js';
import { LockUnsupportedError } from '../contract/lock-errors.js';
import type { HolderAnswer, LockStore, TakenKey } from '../contract/lock-store.js';
import { storeFailureOf } from '../store/store-failure.js';
import { checkBoolean, checkHolderAnswer } from '../contract/store-answers.js';
import { requestFor } from '../store/acquire-request.js';
import { giveBack } from '../store/grant.js';
import type { StoreCalls } from '../store/store-call.js';
import { quoted } from '../text/printable.js';
import type { CheckedEviction } from './evict-options.js';

export interface EvictionContext {
  readonly store: LockStore;
  readonly clock: Clock;
  readonly calls: StoreCalls;
}

type Evicting = LockStore & Required<Pick<LockStore, 'askHolder' | 'evict'>>;

/** Milliseconds between two looks whether the holder has released the key. */
const LOOK_EVERY = 200;
/** Milliseconds for a holder to say whether it is the named one, where the store alone cannot. */
const LONGEST_ANSWER = 1_000;
/** Milliseconds for which the key is ours between the eviction and its release, which hands it to the next waiter. */
const TTL = 5_000;

/** How an eviction ended, and what the store said of the holder before. */
export interface Evicted {
  readonly outcome: 'taken' | 'released' | 'not-held' | 'unconfirmed';
  readonly before: HolderAnswer;
  readonly tokenAfter?: bigint | undefined;
}

/** One eviction: asks the holder, waits, takes the key, and hands it to the next waiter. */
export class Eviction {
  readonly #context: EvictionContext;
  readonly #store: Evicting;
  readonly #key: string;
  readonly #options: CheckedEviction;
  readonly #within: number;
  /** The named holder, once the store has said that it has the key. */
  #held: HolderAnswer | undefined;

  /** `within`: milliseconds for each answer of the store. Throws `LockUnsupportedError` where it cannot evict. */
  constructor(context: EvictionContext, key: string, options: CheckedEviction, within: number) {
    const { store } = context;
    if (!store.evict || !store.askHolder) throw unsupported(store, key);
    this.#context = context;
    this.#store = store as Evicting;
    this.#key = key;
    this.#options = options;
    this.#within = within;
  }

  /** Rejects with `LockStoreError`: the holder may have been evicted. */
  async run(): Promise<Evicted> {
    const { grace } = this.#options;
    const asked = grace > 0 ? await this.#ask(grace) : undefined;
    const ended = asked ?? (await this.#take());
    if (grace >= LONGEST_ANSWER || ended.outcome !== 'unconfirmed') return ended;
    return (await this.#ask(LONGEST_ANSWER, true)) ?? this.#take();
  }

  /** Resolves with an outcome where there is nothing left to take. `isName`: the holder has only to say whether it is meant. */
  async #ask(grace: number, isName = false): Promise<Evicted | undefined> {
    const { clock } = this.#context;
    const end = clock.now() + grace;
    for (let rest = grace; rest > 0; rest = end - clock.now()) {
      const answer = this.#checked(await this.#askHolder(Math.ceil(rest)));
      if (answer.state === 'other') return this.#ended(answer);
      if (answer.state === 'held') this.#held = answer;
      if (this.#held && isName) return undefined;
      await sleep(clock, Math.min(end - clock.now(), LOOK_EVERY));
    }
    return undefined;
  }

  /** It has the key no more, or never had it. */
  #ended(answer: HolderAnswer): Evicted {
    const held = this.#held;
    return { outcome: held ? 'released' : 'not-held', before: held ?? answer };
  }

  #askHolder(grace: number): Promise<HolderAnswer> {
    const { fencingToken } = this.#options;
    const named = { key: this.#key, fencingToken };
    return this.#call(() => this.#store.askHolder(named, grace));
  }

  async #take(): Promise<Evicted> {
    const request = requestFor({ keys: [this.#key], ttl: TTL }, this.#within);
    const named = { ...request, fencingToken: this.#options.fencingToken };
    const take = () => this.#store.evict(named);
    // The answer may be lost when the key is taken already: asked again with the same owner token, the store says so.
    const before = this.#checked(await this.#call(take).catch(() => this.#call(take)));
    if (before.state === 'unconfirmed') return { outcome: 'unconfirmed', before };
    if (before.state !== 'taken') return this.#ended(before);
    const taken = before.taken!;
    await this.#release(taken);
    return { outcome: 'taken', before, tokenAfter: taken.fencingToken };
  }

  /** Never rejects: the ttl frees the key. */
  async #release(taken: TakenKey): Promise<void> {
    await this.#context.calls.make({
      ask: () => taken.release(),
      within: this.#within,
      check: checkBoolean,
      read: () => undefined,
      recover: () => undefined,
    });
  }

  #call(ask: () => Promise<HolderAnswer>): Promise<HolderAnswer> {
    return this.#context.calls.make<HolderAnswer, HolderAnswer>({
      ask,
      within: this.#within,
      check: checkHolderAnswer,
      read: (answer) => answer,
      recover: (error) => {
        throw storeFailureOf(this.#store, [this.#key], error);
      },
      late: (answer) => giveBack(answer?.taken),
    });
  }

  #checked(answer: HolderAnswer): HolderAnswer {
    if (answer.state !== 'shared') return answer;
    const key = quoted(this.#key);
    const message = `Lock ${key} cannot be evicted: sharers hold it, which have no fencing token`;
    throw new LockUnsupportedError(this.#key, this.#store.name, message);
  }
}

function unsupported({ name }: LockStore, key: string): LockUnsupportedError {
  const message = `Lock store "${name}" cannot evict a holder (key ${quoted(key)})`;
  return new LockUnsupportedError(key, name, message);
}
