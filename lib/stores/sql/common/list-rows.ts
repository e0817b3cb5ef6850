import type { LockListQuery, LockPage } from '../../../core/contract/lock-inspection.js';
import { KeyGlob } from '../../../core/list/key-glob.js';
import type { ListCursors } from '../../../core/list/list-cursor.js';
import type { LockTable } from './lock-table.js';
import { retried } from './sql-retries.js';

/** The rows of a table in the order of their keys. A cursor is the last key of its page. */
export async function listRows(
  table: LockTable,
  cursors: ListCursors<string>,
  { match, cursor, limit }: LockListQuery,
): Promise<LockPage> {
  const glob = new KeyGlob(match);
  const last = cursors.read(cursor);
  const from = last === undefined ? glob.start : `${last}\0`; // no key is between the two
  const { value: rows } = await retried(() => table.list(from, limit));
  const locks = rows.filter(({ key }) => glob.matches(key));
  const end = rows.at(-1)?.key;
  const isLast = rows.length < limit || end === undefined || !end.startsWith(glob.start);
  return isLast ? { locks } : { locks, cursor: cursors.write(end) };
}
