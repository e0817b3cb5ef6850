import type { FencingRange, Lease } from '../core/contract/lock-store.js';
import type { Commands } from './commands.js';
import { later } from './later.js';

/** A lease that its holder can be made to lose. */
export class ControlledLease implements Lease {
  readonly keys: readonly string[];
  readonly #lease: Lease;
  readonly #commands: Commands;
  readonly #session = new AbortController();
  /** The caller may not have it yet, and what was lost before it arrived would never have been handed out. */
  #isArriving = true;
  #isLost = false;

  constructor(lease: Lease, keys: readonly string[], commands: Commands) {
    this.keys = keys;
    this.#lease = lease;
    this.#commands = commands;
    later(() => this.#arrived());
  }

  get fencingToken(): bigint | undefined {
    return this.#lease.fencingToken;
  }

  get lost(): AbortSignal {
    return this.#session.signal;
  }

  async extend(ttl: number): Promise<boolean> {
    this.#commands.throwIfFailing(this.keys);
    return this.#lease.extend(ttl);
  }

  /** Work that ended before it could be told of the loss is told now. */
  async release(isValid?: () => boolean): Promise<boolean> {
    this.#commands.throwIfFailing(this.keys);
    const wasOurs = await this.#lease.release(isValid);
    return wasOurs && !this.#isLost;
  }

  async downgrade(): Promise<boolean> {
    this.#commands.throwIfFailing(this.keys);
    return this.#lease.downgrade!();
  }

  async raiseFencing(range: FencingRange): Promise<boolean> {
    return this.#lease.raiseFencing!(range);
  }

  /** At once, or right after the work has begun. */
  lose(): void {
    this.#isLost = true;
    if (!this.#isArriving) this.#end();
  }

  #arrived(): void {
    this.#isArriving = false;
    if (this.#isLost) this.#end();
  }

  #end(): void {
    this.#session.abort();
    void this.#lease.release(); // in memory, where nothing fails
  }
}
