import type {
  EvictRequest,
  HolderAnswer,
  Lease,
  NamedHolder,
} from '../../core/contract/lock-store.js';
import { StoreObservers } from '../kit/store-observers.js';
import type { HeldKeys } from './held-keys.js';
import { isShared } from '../../core/sharing/hold-mode.js';

/** Takes keys from their holders. */
export class MemoryEvictions {
  readonly observers = new StoreObservers();
  readonly #keys: HeldKeys;

  constructor(keys: HeldKeys) {
    this.#keys = keys;
  }

  ask(named: NamedHolder, grace: number): HolderAnswer {
    const answer = this.#answer(named);
    if (answer.state === 'held') this.observers.revoke(named, grace);
    return answer;
  }

  /** `grant` gives the key, which is free then, to the request. */
  take(request: EvictRequest, grant: () => Lease | undefined): HolderAnswer {
    const { key, token } = request;
    const answer = this.#answer(request);
    if (!this.#keys.areHeldBy([key], token)) {
      if (answer.state !== 'held') return answer;
      for (const owner of this.#keys.find(key)!.holders.keys()) this.#keys.release(key, owner);
    }
    const taken = grant();
    this.observers.revoke(request, 0);
    return taken ? { ...answer, state: 'taken', taken } : { state: 'other' };
  }

  #answer({ key, fencingToken: token }: NamedHolder): HolderAnswer {
    const held = this.#keys.find(key);
    if (!held) return { state: 'other' };
    const { permits, fencingToken, holders } = held;
    const owner = holders.keys().next().value!;
    const { holder } = holders.get(owner)!;
    if (isShared(permits)) return { state: 'shared', holder };
    return { state: fencingToken === token ? 'held' : 'other', holder, owner, fencingToken };
  }
}
