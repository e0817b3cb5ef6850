import type {
  AcquireRequest,
  Lease,
  LockStore,
  LockStoreFeatures,
  NodeCount,
  QuorumReport,
  StoreNotice,
  StoreWarning,
} from '../core/contract/lock-store.js';
import { StoreUse } from '../core/store/store-use.js';
import { StoreObservers } from '../stores/kit/store-observers.js';
import { DualStore } from './dual/dual.store.js';
import { FencingNumbers } from './plan/fencing-numbers.js';
import { resolveMigration } from './plan/migrate-options.js';
import type { MigratingLockStoreOptions, MigrationPhase } from './plan/migrate-options.js';
import { TargetStore } from './target/target.store.js';

/**
 * Moves locks from one store to another while they are taken and released: in three roll-outs, with at most one holder of a key and
 * growing fencing tokens throughout. See docs/operations.md, "Moving to another store".
 *
 * Both stores are closed with this one. The caller keeps their clients.
 */
export class MigratingLockStore implements LockStore {
  /** `redis+etcd` while a lock is held in both, then that of `to`. */
  readonly name: string;
  /** In `dual` and `handover`, what both stores have. */
  readonly supports: LockStoreFeatures;
  readonly phase: MigrationPhase;
  readonly acquire?: NonNullable<LockStore['acquire']>;
  readonly extendMany?: NonNullable<LockStore['extendMany']>;
  readonly inspect?: NonNullable<LockStore['inspect']>;
  readonly list?: NonNullable<LockStore['list']>;
  readonly waitFailure?: NonNullable<LockStore['waitFailure']>;
  readonly countNodes?: () => Promise<NodeCount>;
  readonly #store: DualStore | TargetStore;
  readonly #stores: readonly LockStore[];
  readonly #uses: readonly StoreUse[];
  readonly #observers = new StoreObservers();

  /** Throws `TypeError` or `RangeError` naming the option. */
  constructor(options: MigratingLockStoreOptions) {
    const resolved = resolveMigration(options);
    const { from, to, phase } = resolved;
    const store = phase === 'to' ? new TargetStore(resolved) : new DualStore(from!, resolved);
    this.#store = store;
    this.phase = phase;
    this.name = store.name;
    this.supports = store.supports;
    const { acquire, inspect, list, waitFailure } = store;
    const others = store instanceof TargetStore ? store : {};
    const { extendMany, countNodes }: Partial<TargetStore> = others;
    Object.assign(this, given({ acquire, inspect, list, waitFailure, extendMany, countNodes }));
    const numbers = new FencingNumbers(resolved);
    const isBoth = phase !== 'to';
    this.#stores = isBoth ? [from!, to] : [to];
    const uses = [new StoreUse(to, (notice) => this.#observers.tell(numbered(notice, numbers)))];
    if (from) uses.push(new StoreUse(from, isBoth ? (notice) => this.#observers.tell(notice) : undefined)); // prettier-ignore
    this.#uses = uses;
  }

  tryAcquire(request: AcquireRequest): Promise<Lease | undefined> {
    return this.#store.tryAcquire(request);
  }

  /**
   * Resolves once locks can be taken. In `dual` and `handover`: both stores have answered, and keep their keys apart. In `to`:
   * `from` has refused the old credential for `largestTtl`, or `fromClosed` is set. Rejects with `MigrationError`, or with the
   * error of a store.
   */
  ready(): Promise<void> {
    return this.#store.ready();
  }

  refusedKey(request: AcquireRequest): string | undefined {
    return this.#store.refusedKey(request);
  }

  beforeDeadline(request: AcquireRequest): void {
    this.#store.beforeDeadline(request);
  }

  connectionFailure(silent: boolean): unknown {
    return this.#store.connectionFailure(silent);
  }

  report(request: AcquireRequest): QuorumReport | undefined {
    return this.#store.report(request);
  }

  observe(tell: (notice: StoreNotice) => void): void {
    this.#observers.add(tell);
    if (this.#store instanceof TargetStore) this.#store.gate.watch();
  }

  checkServers(tell: (warning: StoreWarning) => void): void {
    for (const each of this.#stores) each.checkServers?.(tell);
  }

  readonly nodes = () => this.#stores.flatMap((each) => each.nodes?.() ?? []);

  async close(): Promise<void> {
    if (this.#store instanceof TargetStore) this.#store.gate.close();
    await Promise.all(this.#uses.map((use) => use.close()));
  }
}

/** Without what is missing. */
function given(members: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(members).filter(([, member]) => member !== undefined));
}

/** The token of a revocation in `to`, as holders of this store know it. */
function numbered(notice: StoreNotice, numbers: FencingNumbers): StoreNotice {
  return notice.type === 'revoked' ? { ...notice, upTo: numbers.ofTarget(notice.upTo) } : notice;
}
