import type { EvictRequest, HolderAnswer, NamedHolder } from '../../../core/contract/lock-store.js';
import { StoreObservers } from '../../kit/store-observers.js';
import type { CounterTrial } from '../keys/counter-trial.js';
import { holderOf, ownerOf } from '../keys/named-lock.js';
import type { LockNames } from '../keys/named-lock.js';
import type { SeenHolders } from '../keys/seen-holders.js';
import { BESIDE } from '../keys/server-keys.js';
import type { ServerKeys } from '../keys/server-keys.js';
import { asFencingToken, asList, asText } from '../lua/replies.js';
import type { LockCalls } from '../send/lock-calls.js';
import type { ScriptRunner } from '../send/script-runner.js';
import type { TakeBacks } from '../send/take-backs.js';
import { ANSWER, ASKED, EVICT, LATER, REVOKED } from './evict-script.js';
import { LaterHolders } from './later-holders.js';

interface EvictionContext {
  readonly keys: ServerKeys;
  readonly names: LockNames;
  readonly runner: ScriptRunner;
  readonly trial: CounterTrial;
  readonly lockCalls: LockCalls;
  readonly takeBacks: TakeBacks;
  readonly seen: SeenHolders;
  /** Missing on a client that cannot subscribe, as `waiters`. */
  readonly handoffs: { tokenOf(lock: string): bigint } | undefined;
  /** Of the store, and of its channel. */
  readonly id: string;
  /** Without, no answer is heard. */
  readonly waiters: Channel | undefined;
}

/** The channel of the store. */
interface Channel {
  /** Opens it. Returns whether messages arrive already. */
  listen(): boolean;
  evictions: Pick<RedisEvictions, 'heard' | 'asked' | 'answered'> | undefined;
}

/** Takes locks from their holders, and hears of those that are taken from holders of this store. */
export class RedisEvictions {
  readonly observers = new StoreObservers();
  readonly #later = new LaterHolders();
  readonly #context: EvictionContext;
  #isOneOfSeveral = false;

  constructor(context: EvictionContext) {
    this.#context = context;
    if (context.waiters) context.waiters.evictions = this;
  }

  /** Its locks have counters of their own, which no other lock raises: what was seen of a holder proves no more than they do. */
  joinQuorum(): void {
    this.#isOneOfSeveral = true;
  }

  async ask(named: NamedHolder, grace: number): Promise<HolderAnswer> {
    const { key, fencingToken } = named;
    const { keys, runner, trial, id, waiters } = this.#context;
    const isHeard = !this.#isOneOfSeveral && waiters?.listen() === true;
    if (isHeard) this.#later.asked(named);
    const { answer } = await trial.run(() => {
      const args = [String(fencingToken), '', grace, '', isHeard ? id : ''];
      return runner.run(EVICT, keys.with(BESIDE, [key]), args, (reply) => this.#read(named, reply));
    });
    const isAsked = answer.state === 'held' || answer.state === 'unconfirmed';
    if (isAsked) this.observers.revoke(named, grace); // its own channel may not be open
    return answer;
  }

  async take(request: EvictRequest): Promise<HolderAnswer> {
    const { key, fencingToken, ttl } = request;
    const { names, runner, trial, takeBacks, lockCalls } = this.#context;
    const held = () => names.exclusive(request);
    if (this.#isLater(request)) return { state: 'other' };
    const isSilent = !this.#isOneOfSeveral && this.#later.isSilent(request);
    const known = isSilent ? this.#known(request) : '';
    takeBacks.forget(held());
    try {
      const { answer, fence } = await trial.run(() => {
        const args = [String(fencingToken), held().value, ttl, known, ''];
        return runner.change(EVICT, held().keys, args, (reply) => this.#read(request, reply));
      });
      if (answer.state !== 'taken') return answer;
      this.observers.revoke({ key, fencingToken: answer.fencingToken ?? fencingToken }, 0);
      const release = () => lockCalls.release(held());
      return { ...answer, taken: { fencingToken: asFencingToken(fence), release } };
    } catch (error) {
      lockCalls.abandon(held());
      throw error;
    }
  }

  /** A message that begins with `REVOKED`. */
  heard(text: string): void {
    const [, token = '', grace, lock = ''] = /^(\d+) (\d+) (.*)$/s.exec(text.slice(REVOKED.length)) ?? []; // prettier-ignore
    const key = this.#context.keys.keyOf(lock);
    if (key !== undefined)
      this.observers.revoke({ key, fencingToken: BigInt(token) }, Number(grace));
  }

  /** A message that begins with `ASKED`. */
  asked(text: string): void {
    const [, id = '', token = '', lock = ''] = /^(\S+) (\d+) (.*)$/s.exec(text.slice(ASKED.length)) ?? []; // prettier-ignore
    const key = this.#context.keys.keyOf(lock);
    const own = key === undefined ? 0n : this.#tokenOf(key);
    if (own <= BigInt(token)) return;
    const message = `${LATER}${own} ${lock}`;
    const { runner, keys } = this.#context;
    runner.run(ANSWER, keys.locks([key!]), [id, message], () => undefined).catch(() => undefined); // it is asked again
  }

  /** A message that begins with `LATER`. */
  answered(text: string): void {
    const [, token = '', lock = ''] = /^(\d+) (.*)$/s.exec(text.slice(LATER.length)) ?? [];
    const key = this.#context.keys.keyOf(lock);
    if (key !== undefined) this.#later.heard(key, BigInt(token));
  }

  /** Of a holder in this process that has the key from another one here. */
  #tokenOf(key: string): bigint {
    return this.#context.handoffs?.tokenOf(this.#context.keys.locks([key])[0]!) ?? 0n;
  }

  #isLater(named: NamedHolder): boolean {
    if (this.#isOneOfSeveral) return false; // the tokens of its nodes differ
    return this.#later.isAfter(named) || this.#tokenOf(named.key) > named.fencingToken;
  }

  #known({ key, fencingToken }: NamedHolder): string {
    return this.#context.seen.find(key, fencingToken) ?? '';
  }

  #read(
    { key, fencingToken: named }: NamedHolder,
    reply: unknown,
  ): { readonly answer: HolderAnswer; readonly fence: string } {
    const [said, value, bound, fence] = asList(reply, 4).map(asText) as [string, string, string, string]; // prettier-ignore
    const { seen } = this.#context;
    const fencingToken = bound === '' ? undefined : asFencingToken(bound);
    if (fencingToken !== undefined) seen.note(key, value, fencingToken);
    if (said === 'held') seen.confirm(key, named, value);
    const isOther = seen.hasGone(key, named, value) || this.#isLater({ key, fencingToken: named });
    const hasGone = said === 'unconfirmed' && isOther;
    const state = hasGone ? 'other' : (said as HolderAnswer['state']);
    const holder = holderOf(value) || undefined;
    return { answer: { state, holder, owner: ownerOf(value), fencingToken }, fence };
  }
}
