import type {
  AcquireRequest,
  Lease,
  LockStore,
  LockStoreFeatures,
  QuorumReport,
} from '../../core/contract/lock-store.js';
import { commonFeatures } from '../plan/common-features.js';
import { FencingNumbers } from '../plan/fencing-numbers.js';
import type { ResolvedMigration } from '../plan/migrate-options.js';
import { SameKeys } from '../plan/same-keys.js';
import { DualAttempts } from './dual-attempts.js';
import type { DualContext } from './dual-attempts.js';
import { DualQueue } from './dual-queue.js';
import { DualReports } from './dual-reports.js';

/** Phases `dual` and `handover`: a lock is held in both stores. */
export class DualStore implements LockStore {
  readonly name: string;
  readonly supports: LockStoreFeatures;
  readonly acquire?: NonNullable<LockStore['acquire']>;
  readonly inspect?: NonNullable<LockStore['inspect']>;
  readonly list?: NonNullable<LockStore['list']>;
  readonly waitFailure?: NonNullable<LockStore['waitFailure']>;
  readonly #from: LockStore;
  readonly #to: LockStore;
  readonly #attempts: DualAttempts;
  readonly #sameKeys: SameKeys;

  constructor(from: LockStore, options: ResolvedMigration) {
    const { to, clock } = options;
    this.#from = from;
    this.#to = to;
    this.name = `${from.name}+${to.name}`;
    this.supports = commonFeatures(from, to);
    const numbers = new FencingNumbers(options);
    const context: DualContext = { from, to, numbers, clock };
    this.#attempts = new DualAttempts(context);
    this.#sameKeys = new SameKeys(from, to);
    if (from.acquire) this.acquire = this.#queued(new DualQueue(context, this.#attempts));
    if (from.inspect && to.inspect) {
      const reports = new DualReports(context);
      this.inspect = (key) => reports.inspect(key);
      if (from.list && to.list) this.list = (query) => reports.list(query);
    }
    if (from.waitFailure)
      this.waitFailure = (request) => from.waitFailure!(this.#attempts.pairs.of(request).from);
  }

  async tryAcquire(request: AcquireRequest): Promise<Lease | undefined> {
    if (!this.#sameKeys.areApart) await this.#sameKeys.check();
    return this.#attempts.once(request);
  }

  /** Resolves once both stores have answered, and keep their keys apart. */
  ready(): Promise<void> {
    return this.#sameKeys.check();
  }

  refusedKey(request: AcquireRequest): string | undefined {
    return this.#attempts.refusedKey(request);
  }

  beforeDeadline(request: AcquireRequest): void {
    this.#from.beforeDeadline?.(this.#attempts.pairs.of(request).from);
  }

  connectionFailure(silent: boolean): unknown {
    return this.#from.connectionFailure?.(silent) ?? this.#to.connectionFailure?.(silent);
  }

  report(request: AcquireRequest): QuorumReport | undefined {
    const { from, toWithFloor } = this.#attempts.pairs.of(request);
    return this.#to.report?.(toWithFloor) ?? this.#from.report?.(from);
  }

  #queued(queue: DualQueue): NonNullable<LockStore['acquire']> {
    return async (request, signal) => {
      if (!this.#sameKeys.areApart) await this.#sameKeys.check();
      return queue.wait(request, signal);
    };
  }
}
