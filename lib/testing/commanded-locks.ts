import type { LockInspection, LockListQuery, LockPage } from '../core/contract/lock-inspection.js';
import { KeyGlob } from '../core/list/key-glob.js';
import { ListCursors } from '../core/list/list-cursor.js';

/** After a key of a command, or in the list of the held ones. */
type Place = { readonly after: string } | { readonly held: string | undefined };

const CURSORS = new ListCursors<Place>('testing');

/** The page of a list that begins with `commanded`, and goes on with what `listHeld` lists. */
export async function withCommanded(
  { match, cursor, limit }: LockListQuery,
  commanded: readonly LockInspection[],
  listHeld: (query: LockListQuery) => Promise<LockPage>,
): Promise<LockPage> {
  const glob = new KeyGlob(match);
  const place = CURSORS.read(cursor) ?? { after: '' };
  const own = commanded
    .filter(({ key }) => 'after' in place && key > place.after && glob.matches(key))
    .toSorted((one, other) => (one.key < other.key ? -1 : 1))
    .slice(0, limit);
  const last = own.at(-1);
  if (last && own.length === limit)
    return { locks: own, cursor: CURSORS.write({ after: last.key }) };
  const inner = 'held' in place ? place.held : undefined;
  const page = await listHeld({ match, limit: limit - own.length, cursor: inner });
  const next = page.cursor === undefined ? {} : { cursor: CURSORS.write({ held: page.cursor }) };
  return { locks: [...own, ...page.locks], ...next };
}
