import type {
  EvictRequest,
  HolderAnswer,
  LockInspection,
  NamedHolder,
} from '../../../core/contract/lock-store.js';
import { claimOf } from '../common/lock-table.js';
import { isShared } from '../../../core/sharing/hold-mode.js';
import type { LockTable } from '../common/lock-table.js';
import { retried } from '../common/sql-retries.js';
import type { EvictionSteps } from '../../kit/evictions.js';
import { takeBack } from '../connections/abandoned-claims.js';

/** The column of the fencing tokens has 64 bits. */
const LARGEST_TOKEN = 2n ** 63n - 1n;

/**
 * Takes rows from their holders. A row has the very token of its holder. No message reaches a holder in another process: it learns
 * of its eviction when it extends or releases the lock.
 */
export class RowEvictions implements EvictionSteps {
  readonly #table: LockTable;

  constructor(table: LockTable) {
    this.#table = table;
  }

  ask(named: NamedHolder): Promise<HolderAnswer> {
    return this.#look(named);
  }

  async take(request: EvictRequest): Promise<HolderAnswer> {
    const { key, token, ttl, fencingToken } = request;
    const before = await this.#look(request);
    if (fencingToken > LARGEST_TOKEN) return before;
    try {
      const { value } = await retried(() => this.#table.evict(claimOf(request), fencingToken));
      if (value === undefined) return before.state === 'held' ? this.#look(request) : before;
      const release = async () => (await retried(() => this.#table.release(key, token))).value;
      const holder = before.state === 'held' ? before : { fencingToken };
      return { ...holder, state: 'taken', taken: { fencingToken: value, release } };
    } catch (error) {
      takeBack(this.#table, key, token, ttl);
      throw error;
    }
  }

  async #look({ key, fencingToken }: NamedHolder): Promise<HolderAnswer> {
    return answerTo(fencingToken, (await retried(() => this.#table.inspect(key))).value);
  }
}

function answerTo(named: bigint, seen: LockInspection | undefined): HolderAnswer {
  if (!seen) return { state: 'other' };
  const { holder, permits, fencingToken } = seen;
  if (isShared(permits)) return { state: 'shared', holder };
  return { state: fencingToken === named ? 'held' : 'other', holder, fencingToken };
}
