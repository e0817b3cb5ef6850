import type {
  EvictRequest,
  HolderAnswer,
  Lease,
  NamedHolder,
  StoreNotice,
} from '../../core/contract/lock-store.js';
import type { HeldKeys } from './held-keys.js';
import { isShared } from '../../core/sharing/hold-mode.js';

type Tell = (notice: StoreNotice) => void;

/** Takes keys from their holders. */
export class MemoryEvictions {
  readonly #keys: HeldKeys;
  readonly #tells: Tell[] = [];

  constructor(keys: HeldKeys) {
    this.#keys = keys;
  }

  observe(tell: Tell): void {
    this.#tells.push(tell);
  }

  ask({ key, fencingToken }: NamedHolder, grace: number): HolderAnswer {
    const answer = this.#answer(key, fencingToken);
    if (answer.state === 'held') this.#revoke(key, fencingToken, grace);
    return answer;
  }

  /** `grant` gives the key, which is free then, to the request. */
  take({ key, token, fencingToken }: EvictRequest, grant: () => Lease | undefined): HolderAnswer {
    const answer = this.#answer(key, fencingToken);
    if (!this.#keys.areHeldBy([key], token)) {
      if (answer.state !== 'held') return answer;
      for (const owner of this.#keys.find(key)!.holders.keys()) this.#keys.release(key, owner);
    }
    const taken = grant();
    this.#revoke(key, fencingToken, 0);
    return taken ? { ...answer, state: 'taken', taken } : { state: 'other' };
  }

  #answer(key: string, token: bigint): HolderAnswer {
    const held = this.#keys.find(key);
    if (!held) return { state: 'other' };
    const { permits, fencingToken, holders } = held;
    const owner = holders.keys().next().value!;
    const { holder } = holders.get(owner)!;
    if (isShared(permits)) return { state: 'shared', holder };
    return { state: fencingToken === token ? 'held' : 'other', holder, owner, fencingToken };
  }

  #revoke(key: string, upTo: bigint, grace: number): void {
    for (const tell of this.#tells) tell({ type: 'revoked', key, upTo, grace });
  }
}
