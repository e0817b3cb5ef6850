import type {
  AcquireRequest,
  Lease,
  LockInspection,
  LockStore,
  LockStoreFeatures,
  QuorumReport,
} from '../../core/contract/lock-store.js';
import { FencingNumbers } from '../plan/fencing-numbers.js';
import { SourceGate } from '../gate/source-gate.js';
import type { ResolvedMigration } from '../plan/migrate-options.js';
import { numberedLease } from './numbered-lease.js';

/** Phase `to`: a lock is held in `to` alone, once `from` is closed to the old configuration. */
export class TargetStore implements LockStore {
  readonly name: string;
  readonly supports: LockStoreFeatures;
  readonly gate: SourceGate;
  readonly acquire?: NonNullable<LockStore['acquire']>;
  readonly extendMany?: NonNullable<LockStore['extendMany']>;
  readonly inspect?: NonNullable<LockStore['inspect']>;
  readonly list?: NonNullable<LockStore['list']>;
  readonly waitFailure?: NonNullable<LockStore['waitFailure']>;
  readonly countNodes?: NonNullable<LockStore['countNodes']>;
  readonly #to: LockStore;
  readonly #numbers: FencingNumbers;
  readonly #isNumbered: boolean;

  constructor(options: ResolvedMigration) {
    const { to, fencingBase } = options;
    this.#to = to;
    this.name = to.name;
    this.supports = to.supports;
    this.gate = new SourceGate(options);
    this.#numbers = new FencingNumbers(options);
    this.#isNumbered = fencingBase > 0n && to.supports.fencingFloor === false;
    if (to.acquire) this.acquire = (request, signal) => this.#wait(request, signal);
    if (to.extendMany && !this.#isNumbered)
      this.extendMany = (leases, ttl) => to.extendMany!(leases, ttl);
    if (to.inspect) this.inspect = async (key) => this.#seen(await to.inspect!(key));
    if (to.list)
      this.list = async (query) => {
        const page = await to.list!(query);
        return { ...page, locks: page.locks.map((each) => this.#seen(each)!) };
      };
    if (to.waitFailure) this.waitFailure = (request) => to.waitFailure!(request);
    if (to.countNodes) this.countNodes = () => to.countNodes!();
  }

  async tryAcquire(request: AcquireRequest): Promise<Lease | undefined> {
    if (!this.gate.isOpen) await this.gate.check();
    return this.#numbered(await this.#to.tryAcquire(request));
  }

  /** Resolves once the gate is open. Rejects where the old credential works, and where that is not known. */
  ready(): Promise<void> {
    return this.gate.opened();
  }

  refusedKey(request: AcquireRequest): string | undefined {
    return this.#to.refusedKey?.(request);
  }

  beforeDeadline(request: AcquireRequest): void {
    this.#to.beforeDeadline?.(request);
  }

  connectionFailure(silent: boolean): unknown {
    return this.#to.connectionFailure?.(silent);
  }

  report(request: AcquireRequest): QuorumReport | undefined {
    return this.#to.report?.(request);
  }

  async #wait(request: AcquireRequest, signal: AbortSignal): Promise<Lease> {
    if (!this.gate.isOpen) await this.gate.check();
    return this.#numbered(await this.#to.acquire!(request, signal))!;
  }

  #numbered(lease: Lease | undefined): Lease | undefined {
    return lease && this.#isNumbered ? numberedLease(lease, this.#numbers) : lease;
  }

  #seen(seen: LockInspection | undefined): LockInspection | undefined {
    if (seen?.fencingToken === undefined || !this.#isNumbered) return seen;
    return { ...seen, fencingToken: this.#numbers.ofTarget(seen.fencingToken) };
  }
}
