import type {
  EvictRequest,
  HolderAnswer,
  LockInspection,
  NamedHolder,
  StoreNotice,
} from '../../../core/contract/lock-store.js';
import { claimOf } from '../common/lock-table.js';
import { isShared } from '../../../core/sharing/hold-mode.js';
import type { LockTable } from '../common/lock-table.js';
import { retried } from '../common/sql-retries.js';
import { takeBack } from '../connections/abandoned-claims.js';

type Tell = (notice: StoreNotice) => void;

/** The column of the fencing tokens has 64 bits. */
const LARGEST_TOKEN = 2n ** 63n - 1n;

/**
 * Takes rows from their holders. A row has the very token of its holder. No message reaches a holder in another process: it learns
 * of its eviction when it extends or releases the lock.
 */
export class RowEvictions {
  readonly #table: LockTable;
  readonly #tells: Tell[] = [];

  constructor(table: LockTable) {
    this.#table = table;
  }

  observe(tell: Tell): void {
    this.#tells.push(tell);
  }

  async ask(named: NamedHolder, grace: number): Promise<HolderAnswer> {
    const answer = await this.#look(named);
    if (answer.state === 'held') this.#revoke(named, grace);
    return answer;
  }

  async take(request: EvictRequest): Promise<HolderAnswer> {
    const { key, token, ttl, fencingToken } = request;
    const before = await this.#look(request);
    if (fencingToken > LARGEST_TOKEN) return before;
    try {
      const { value } = await retried(() => this.#table.evict(claimOf(request), fencingToken));
      if (value === undefined) return before.state === 'held' ? this.#look(request) : before;
      this.#revoke(request, 0);
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

  #revoke({ key, fencingToken: upTo }: NamedHolder, grace: number): void {
    for (const tell of this.#tells) tell({ type: 'revoked', key, upTo, grace });
  }
}

function answerTo(named: bigint, seen: LockInspection | undefined): HolderAnswer {
  if (!seen) return { state: 'other' };
  const { holder, permits, fencingToken } = seen;
  if (isShared(permits)) return { state: 'shared', holder };
  return { state: fencingToken === named ? 'held' : 'other', holder, fencingToken };
}
