import { systemClock } from '../../../core/async/clock.js';
import { waitAtMost } from '../../../core/async/sleep.js';
import type { Lease } from '../../../core/contract/lock-store.js';
import { StoreTimeout } from '../../../core/store/bounded-call.js';
import type { LockTable, OurRow } from './lock-table.js';
import { SqlLease } from './sql-lease.js';
import { retried } from './sql-retries.js';

/** How rows of one table are extended together. */
type Extension = NonNullable<LockTable['extendMany']>;

/**
 * `LockStore.extendMany` by one statement, which skips rows that another transaction has locked. Permits, and leases whose rows
 * it did not extend, are then extended one by one, which tells the state of each. The other leases wait for that for at most a
 * tenth of the ttl.
 */
export async function extendMany(
  extend: Extension,
  leases: readonly Lease[],
  ttl: number,
): Promise<ReadonlyMap<Lease, unknown>> {
  const rows = leases.flatMap((lease) =>
    lease instanceof SqlLease && lease.mayBeBundled(ttl) ? lease : [],
  );
  const extended = await extendRows(extend, rows, ttl);
  const within = ttl / 10;
  const exceptions = new Map<Lease, unknown>();
  for (const lease of leases)
    if (!extended.has((lease as SqlLease).token)) exceptions.set(lease, new StoreTimeout(within));
  const answers = Array.from(exceptions.keys(), async (lease) => {
    const answer = await lease.extend(ttl).catch((error: unknown) => error);
    if (answer === true) exceptions.delete(lease);
    else exceptions.set(lease, answer);
  });
  if (answers.length > 0) await waitAtMost(systemClock, within, Promise.all(answers));
  return new Map(exceptions);
}

/**
 * The tokens of the extended rows. If the statement fails for all, each is extended by itself: the error may be that of one row.
 */
async function extendRows(
  extend: Extension,
  leases: readonly SqlLease[],
  ttl: number,
): Promise<ReadonlySet<string>> {
  if (leases.length < 2) return new Set();
  const rows: readonly OurRow[] = leases;
  const extension = retried(() => extend(rows, ttl));
  for (const lease of leases) lease.extendedBy(extension, ttl);
  return extension.then(
    ({ value }) => value,
    () => new Set(),
  );
}
