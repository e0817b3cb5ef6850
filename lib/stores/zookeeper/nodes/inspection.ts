import { timeOfDay } from '../../../core/async/clock.js';
import type { LockInspection } from '../../../core/contract/lock-inspection.js';
import { MOST_WAITERS } from '../../../core/list/most-waiters.js';
import { readHolder } from '../../kit/asked-holder.js';
import { holdersOf } from '../../kit/place-in-queue.js';
import type { Connection } from '../client/connection.js';
import type { Children, NodeContent } from '../client/node-content.js';
import { nodesOf } from '../names/node-names.js';
import type { QueuedNode } from '../names/node-names.js';
import { isShared } from '../../../core/sharing/hold-mode.js';

/**
 * The holders of a key and the first `mostWaiters`, from the nodes of its queue. Costs a read for each. `undefined` when it is
 * free.
 */
export async function inspectQueue(
  connection: Connection,
  key: string,
  parent: string,
  mostWaiters: number = MOST_WAITERS,
): Promise<LockInspection | undefined> {
  for (;;) {
    const found = await connection.children(parent);
    const nodes = nodesOf(found?.names ?? []);
    const holders = holdersOf(nodes);
    if (!found || holders.length === 0) return undefined;
    const waiting = nodes.slice(holders.length);
    const read = ({ name }: QueuedNode) => connection.read(`${parent}/${name}`);
    const [held, waiters, newest] = await Promise.all([
      Promise.all(holders.map(read)),
      Promise.all(waiting.slice(0, mostWaiters).map(read)),
      read(nodes.at(-1)!),
    ]);
    const contents = held.filter((content) => content !== undefined);
    if (contents.length === 0) continue; // all have gone meanwhile
    return {
      key,
      ...holdersIn(contents, holders[0]!.permits, found),
      heldFor: ageOf(newest, found),
      waiters: waiters.flatMap((content) => (content ? (holderIn(content) ?? '') : [])),
      waiterCount: waiting.length,
    };
  }
}

function holdersIn(
  contents: readonly NodeContent[],
  permits: number | undefined,
  { numberedAt }: Children,
): Omit<LockInspection, 'key'> {
  const { czxid } = contents[0]!;
  const holder = holderIn(contents[0]!);
  if (!isShared(permits)) return { holder, fencingToken: numberedAt > czxid ? numberedAt : czxid };
  return { holder, permits, holders: contents.map((each) => holderIn(each) ?? '') };
}

/**
 * ZooKeeper does not tell when a node became the first. If no node has gone since the newest one was made, the first one was the
 * first already then.
 */
function ageOf(newest: NodeContent | undefined, { changedAt }: Children): number | undefined {
  if (newest?.czxid !== changedAt) return undefined;
  return Math.max(0, Math.floor(timeOfDay() - newest.createdAt));
}

function holderIn({ data }: NodeContent): string | undefined {
  return readHolder(data.toString()).holder || undefined;
}
