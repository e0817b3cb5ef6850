import type { Lease } from '../../core/lock-store.js';
import type { Held } from './held.js';
import type { LeaseSurroundings } from './lease-surroundings.js';
import { isOne } from './replies.js';
import { SharedRedisLease } from './shared-redis-lease.js';
import { DOWNGRADE } from './shared-scripts.js';

/** A lease that is to be that of a reader. Until the server has confirmed it, nobody knows which of the two it is. */
export class DowngradedLease implements Lease {
  readonly #writer: Held;
  readonly #reader: Held;
  readonly #around: LeaseSurroundings;
  readonly #shared: SharedRedisLease;
  #isConfirmed = false;

  constructor(writer: Held, around: LeaseSurroundings) {
    this.#writer = writer;
    this.#reader = around.names.shared(writer.request, Infinity);
    this.#around = around;
    this.#shared = new SharedRedisLease(this.#reader, around);
  }

  /** Resolves `false` when a key is no longer ours. May be called again after a failure. */
  async confirm(): Promise<boolean> {
    if (this.#isConfirmed) return true;
    const values = [this.#writer.value, this.#reader.value];
    const isReader = await this.#around.runner.change(DOWNGRADE, this.#reader.keys, values, isOne);
    if (isReader) this.#isConfirmed = true;
    return isReader;
  }

  async extend(ttl: number): Promise<boolean> {
    return (await this.confirm()) && this.#shared.extend(ttl);
  }

  release(isValid?: () => boolean): Promise<boolean> {
    return this.#around.sentAgain.decided(this.#released(), isValid);
  }

  async #released(): Promise<boolean> {
    if (await this.#shared.release()) return true;
    return !this.#isConfirmed && this.#around.lockCalls.release(this.#writer);
  }
}
