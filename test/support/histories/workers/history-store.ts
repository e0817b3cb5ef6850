import type { AcquireRequest, Lease, LockStore } from 'nest-holdfast';
import type { Entry, Granted } from '../history.js';

/** Nanoseconds of the machine's monotonic clock, the same in all processes. */
export function now(): number {
  return Number(process.hrtime.bigint());
}

/** A store that tells what comes of each lease. */
export class RecordingStore implements LockStore {
  readonly name: string;
  readonly supports: LockStore['supports'];
  readonly #store: LockStore;
  readonly #record: (entry: Entry) => void;
  readonly #origins = new Map<string, Granted['from']>();
  /** Missing where the store has none. */
  readonly acquire: LockStore['acquire'];
  readonly observe: LockStore['observe'];

  constructor(store: LockStore, record: (entry: Entry) => void) {
    this.#store = store;
    this.#record = record;
    ({ name: this.name, supports: this.supports } = store);
    this.acquire = store.acquire && ((request, signal) => this.#fromTheLine(request, signal));
    this.observe = store.observe?.bind(store);
  }

  /** Where the lease of this token came from. To be asked once. */
  takeOrigin(key: string, token: bigint): Granted['from'] {
    const name = `${key} ${token}`;
    const origin = this.#origins.get(name)!;
    this.#origins.delete(name);
    return origin;
  }

  async tryAcquire(request: AcquireRequest): Promise<Lease | undefined> {
    const lease = await this.#store.tryAcquire(request);
    return lease && this.#recorded(lease, request, 'attempt');
  }

  async close(): Promise<void> {
    await this.#store.close?.();
  }

  async #fromTheLine(request: AcquireRequest, signal: AbortSignal): Promise<Lease> {
    const lease = await this.#store.acquire!(request, signal);
    this.#record({ is: 'claimed', key: request.key });
    return this.#recorded(lease, request, 'line');
  }

  #recorded(lease: Lease, request: AcquireRequest, from: Granted['from']): Lease {
    const { key } = request;
    const next = (passed: Lease) => this.#recorded(passed, request, 'holder before');
    let hasToken = from !== 'line' || !this.supports.ttl; // a claim gets it with its first extension
    const setOrigin = () => {
      if (lease.fencingToken !== undefined) this.#origins.set(`${key} ${lease.fencingToken}`, from);
    };
    if (hasToken) setOrigin();
    return {
      get fencingToken() {
        return lease.fencingToken;
      },
      get lost() {
        return lease.lost;
      },
      extend: async (ttl) => {
        const isOurs = await this.#extend(lease, key, ttl);
        if (isOurs && !hasToken) setOrigin();
        hasToken ||= isOurs;
        return isOurs;
      },
      release: () => {
        this.#record({ is: 'returned', key });
        return lease.release();
      },
      downgrade: lease.downgrade && (() => lease.downgrade!()),
      handOff:
        lease.handOff &&
        ((ttl, renew) => {
          const passed = lease.handOff!(ttl, renew);
          if (passed) this.#record({ is: 'passing', key });
          if (!(passed instanceof Promise)) return passed && next(passed);
          return passed.then((answer) => answer && next(answer));
        }),
    };
  }

  async #extend(lease: Lease, key: string, ttl: number): Promise<boolean> {
    const sentAt = now();
    const isOurs = await lease.extend(ttl);
    const until = sentAt + (ttl * 0.99 - 2) * 1e6;
    if (isOurs && this.supports.ttl && lease.fencingToken !== undefined) {
      this.#record({ is: 'extended', key, token: Number(lease.fencingToken), until });
    }
    return isOurs;
  }
}
