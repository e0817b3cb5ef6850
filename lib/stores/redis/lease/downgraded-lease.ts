import type { Lease } from '../../../core/contract/lock-store.js';
import type { NamedLock } from '../keys/named-lock.js';
import type { LeaseContext } from './lease-context.js';
import { isOne } from '../lua/replies.js';
import { SharedRedisLease } from './shared-redis-lease.js';
import { DOWNGRADE } from '../lua/sharing-scripts.js';
import { READERS } from '../../../core/sharing/hold-mode.js';

/** A lease that becomes a reader's. Until the server has confirmed it, its kind is unknown. */
export class DowngradedLease implements Lease {
  readonly #writer: NamedLock;
  readonly #reader: NamedLock;
  readonly #context: LeaseContext;
  readonly #shared: SharedRedisLease;
  #isConfirmed = false;

  constructor(writer: NamedLock, context: LeaseContext) {
    this.#writer = writer;
    this.#reader = context.names.shared(writer.request, READERS);
    this.#context = context;
    this.#shared = new SharedRedisLease(this.#reader, context);
  }

  /** Resolves `false` when a key is no longer ours. May be called again after a failure. */
  async confirm(): Promise<boolean> {
    if (this.#isConfirmed) return true;
    const values = [this.#writer.value, this.#reader.value];
    const isReader = await this.#context.runner.change(DOWNGRADE, this.#reader.keys, values, isOne);
    if (isReader) this.#isConfirmed = true;
    return isReader;
  }

  async extend(ttl: number): Promise<boolean> {
    return (await this.confirm()) && this.#shared.extend(ttl);
  }

  release(isValid?: () => boolean): Promise<boolean> {
    return this.#context.sentAgain.decided(this.#released(), isValid);
  }

  async #released(): Promise<boolean> {
    if (await this.#shared.release()) return true;
    return !this.#isConfirmed && this.#context.lockCalls.release(this.#writer);
  }
}
