import { randomUUID } from 'node:crypto';
import type { AcquireRequest, LockStore } from '../../core/contract/lock-store.js';
import { thisHolder } from '../../core/store/acquire-request.js';
import { giveBack } from '../../core/store/grant.js';
import { MigrationError } from './migration-error.js';

/** Milliseconds for which the key is there at most. */
const TTL = 5_000;

/**
 * Makes sure that two stores keep their locks apart, whatever clients, addresses and prefixes they have: takes a random key
 * in one, which must be free in the other. Of two lists of nodes, it also finds a common majority.
 */
export class SameKeys {
  readonly #from: LockStore;
  readonly #to: LockStore;
  #checked: Promise<void> | undefined;
  areApart = false;

  constructor(from: LockStore, to: LockStore) {
    this.#from = from;
    this.#to = to;
  }

  /** Rejects with `MigrationError`, and with the error of a store: the next call then asks again. */
  check(): Promise<void> {
    return (this.#checked ??= this.#check().finally(() => (this.#checked = undefined)));
  }

  async #check(): Promise<void> {
    if (this.areApart) return;
    const key = `holdfast:migration:${randomUUID()}`;
    const one = await this.#from.tryAcquire(requestFor(key));
    try {
      const other = await this.#to.tryAcquire(requestFor(key));
      giveBack(other);
      if (!one || !other) throw this.#refusal();
    } finally {
      giveBack(one);
    }
    this.areApart = true;
  }

  #refusal(): MigrationError {
    return new MigrationError(
      'LOCK_MIGRATE_SAME_KEYS',
      `from ("${this.#from.name}") and to ("${this.#to.name}") keep their locks in one place: every lock would be refused. ` +
        'Give to another server, or another keyPrefix',
    );
  }
}

function requestFor(key: string): AcquireRequest {
  return { key, keys: [key], token: randomUUID(), ttl: TTL, holder: thisHolder };
}
