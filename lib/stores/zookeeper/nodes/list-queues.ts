import type { LockListQuery, LockPage } from '../../../core/contract/lock-inspection.js';
import { KeyGlob } from '../../../core/list/key-glob.js';
import { ListCursors } from '../../../core/list/list-cursor.js';
import { MOST_LISTED_WAITERS } from '../../../core/list/most-waiters.js';
import type { Connection } from '../client/connection.js';
import type { KeyNodes } from '../names/key-nodes.js';
import { keyOf } from '../names/node-names.js';
import { inspectQueue } from './inspection.js';

/**
 * The queues below the root in the order of their names, of which ZooKeeper tells all at once. A queue may be empty: the server
 * removes those after a while. A cursor is the last name of its page.
 */
export async function listQueues(
  connection: Connection,
  keyNodes: KeyNodes,
  { match, cursor, limit }: LockListQuery,
): Promise<LockPage> {
  const cursors = new ListCursors<string>('zookeeper', keyNodes.root);
  const last = cursors.read(cursor) ?? '';
  const glob = new KeyGlob(match);
  const { names = [] } = (await connection.children(keyNodes.root)) ?? {};
  const left = names.filter((name) => name > last && glob.matches(keyOf(name) ?? '')).toSorted();
  const page = left.slice(0, limit).flatMap((name) => keyOf(name) ?? []);
  const seen = await Promise.all(
    page.map((key) => inspectQueue(connection, key, keyNodes.pathOf(key), MOST_LISTED_WAITERS)),
  );
  const locks = seen.filter((each) => each !== undefined);
  return left.length > limit ? { locks, cursor: cursors.write(left[limit - 1]!) } : { locks };
}
