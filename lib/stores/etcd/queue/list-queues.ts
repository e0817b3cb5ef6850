import type {
  LockInspection,
  LockListQuery,
  LockPage,
} from '../../../core/contract/lock-inspection.js';
import { KeyGlob } from '../../../core/list/key-glob.js';
import { ListCursors } from '../../../core/list/list-cursor.js';
import { MOST_LISTED_WAITERS } from '../../../core/list/most-waiters.js';
import type { KeyValue, TxnResponse } from '../client/etcd-client.js';
import type { EtcdMembers } from '../client/etcd-members.js';
import type { EtcdKeys, NameRange } from '../keys/etcd-keys.js';
import { inspectionOf } from './inspection.js';
import { kvsOf } from './node-creation.js';
import { queueOf } from './queue-position.js';

/** Nodes of one reading. */
const NODES_AT_ONCE = 500;

interface Context {
  readonly members: EtcdMembers;
  readonly keys: EtcdKeys;
  /** For a queue that is longer than a reading. */
  readonly inspect: (key: string) => Promise<LockInspection | undefined>;
}

/** The nodes of one queue, or a node that is in none. */
interface Group {
  readonly key: string | undefined;
  readonly nodes: KeyValue[];
}

/** The queues in the order of their names. A cursor is the name with which the next page begins. */
export async function listQueues(
  { members, keys, inspect }: Context,
  { match, cursor, limit }: LockListQuery,
): Promise<LockPage> {
  const cursors = new ListCursors<string>('etcd', keys.prefix);
  const last = cursors.read(cursor);
  const glob = new KeyGlob(match);
  const all = keys.namesFrom(glob.start);
  const from = last === undefined ? all.key : Buffer.from(last, 'base64');
  const answer = await readNodes(members, { ...all, key: from });
  const revision = BigInt(answer.header.revision);
  const nodes = kvsOf(answer, 0);
  const groups = groupsOf(nodes, keys);
  const isCut = nodes.length === NODES_AT_ONCE;
  const next = isCut ? groups.at(-1)?.nodes[0]?.key : undefined;
  const whole = isCut && groups.length > 1 ? groups.slice(0, -1) : groups;
  const locks: LockInspection[] = [];
  for (const { key, nodes: queue } of whole) {
    if (key === undefined || !glob.matches(key)) continue;
    if (locks.length === limit) return { locks, cursor: writtenFrom(cursors, queue[0]!.key) };
    const isLong = isCut && groups.length === 1;
    const seen = isLong
      ? await inspect(key)
      : inspectionOf(key, queueOf(queue), revision, MOST_LISTED_WAITERS);
    if (seen) locks.push(seen);
    if (isLong) return { locks, cursor: writtenFrom(cursors, keys.queue(key).range.range_end) };
  }
  if (next === undefined) return { locks };
  return { locks, cursor: writtenFrom(cursors, whole === groups ? after(nodes) : next) };
}

function readNodes(members: EtcdMembers, range: NameRange): Promise<TxnResponse> {
  const op = { request_range: { ...range, limit: NODES_AT_ONCE } };
  return members.ask((client, options) =>
    client.kv.txn({ compare: [], success: [op], failure: [] }, options),
  );
}

function groupsOf(nodes: readonly KeyValue[], keys: EtcdKeys): Group[] {
  const groups: Group[] = [];
  for (const node of nodes) {
    const key = keys.keyOf(node.key);
    const last = groups.at(-1);
    if (last && last.key === key) last.nodes.push(node);
    else groups.push({ key, nodes: [node] });
  }
  return groups;
}

/** The name right after the last one. */
function after(nodes: readonly KeyValue[]): Buffer {
  return Buffer.concat([nodes.at(-1)!.key, Buffer.from([0])]);
}

function writtenFrom(cursors: ListCursors<string>, name: Buffer): string {
  return cursors.write(name.toString('base64'));
}
