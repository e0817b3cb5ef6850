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
import { EVICT, REVOKED } from './evict-script.js';

interface EvictionContext {
  readonly keys: ServerKeys;
  readonly names: LockNames;
  readonly runner: ScriptRunner;
  readonly trial: CounterTrial;
  readonly lockCalls: LockCalls;
  readonly takeBacks: TakeBacks;
  readonly seen: SeenHolders;
}

/** Takes locks from their holders, and hears of those that are taken from holders of this store. */
export class RedisEvictions {
  readonly observers = new StoreObservers();
  readonly #context: EvictionContext;

  constructor(context: EvictionContext) {
    this.#context = context;
  }

  async ask(named: NamedHolder, grace: number): Promise<HolderAnswer> {
    const { key, fencingToken } = named;
    const { keys, runner, trial } = this.#context;
    const { answer } = await trial.run(() => {
      const args = [String(fencingToken), '', grace, this.#known(named)];
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
    takeBacks.forget(held());
    try {
      const { answer, fence } = await trial.run(() => {
        const args = [String(fencingToken), held().value, ttl, this.#known(request)];
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
    const hasGone = said === 'unconfirmed' && seen.hasGone(key, named, value);
    const state = hasGone ? 'other' : (said as HolderAnswer['state']);
    const holder = holderOf(value) || undefined;
    return { answer: { state, holder, owner: ownerOf(value), fencingToken }, fence };
  }
}
