import type { AcquireRequest } from '../../../core/contract/lock-store.js';
import { UnknownAnswerError } from '../../../core/contract/unknown-answer.js';
import type { Connection } from '../client/connection.js';
import { insist } from '../session/insistence.js';
import { nodePrefix } from '../names/node-names.js';
import { nodesFrom } from '../names/place-of-node.js';
import type { KeyNodes } from '../names/key-nodes.js';
import type { ConnectLimits, Session } from '../session/session.js';

/** The plan of a request's nodes: one in the queue of each key, all made by one transaction. */
export interface NodePlan {
  readonly keys: readonly string[];
  /** The nodes of the keys. */
  readonly parents: readonly string[];
  /** As in `AcquireRequest`. */
  readonly permits: number | undefined;
  /** The beginning of the names: it names the request, so that nodes whose creation was not answered are found again. */
  readonly prefix: string;
  readonly data: Buffer;
}

export function planOf(
  keyNodes: KeyNodes,
  { keys, token, holder = '', permits }: AcquireRequest,
): NodePlan {
  return {
    keys,
    parents: keys.map((key) => keyNodes.pathOf(key)),
    permits,
    prefix: nodePrefix(token, permits),
    data: Buffer.from(holder),
  };
}

/**
 * Resolves with the paths of the new nodes, in the order of the keys. A creation whose reply was lost may have been done. So the
 * nodes are looked for first, after a write that makes sure that this server knows of them. They count only if this session made
 * them, because those of another one may go at any time, and only if all are there. After a failure, none stays.
 */
export async function createNodes(
  keyNodes: KeyNodes,
  session: Session,
  plan: NodePlan,
  patience: ConnectLimits,
): Promise<string[]> {
  let isInDoubt = false;
  const create = async (connection: Connection, isRepeated: boolean) => {
    isInDoubt = isRepeated;
    if (isInDoubt) {
      const found = await findNodes(connection, keyNodes, plan);
      if (found.every((path) => path !== undefined)) return found;
      await removeAll(connection, found);
    }
    const paths = plan.parents.map((parent) => `${parent}/${plan.prefix}`);
    return keyNodes.enter(connection, paths, plan.data);
  };
  try {
    return await session.retry(create, patience);
  } catch (error) {
    if (isInDoubt || error instanceof UnknownAnswerError) takeBack(keyNodes, session, plan);
    throw error;
  }
}

/** The nodes of the plan that this session has made: one path for each key, `undefined` where there is none. */
async function findNodes(connection: Connection, { root }: KeyNodes, plan: NodePlan) {
  await connection.check([root]);
  return Promise.all(
    plan.parents.map(async (parent) => {
      for (const name of nodesFrom(plan.prefix, (await connection.children(parent))?.names ?? [])) {
        const path = `${parent}/${name}`;
        if ((await connection.read(path))?.isOurs) return path;
      }
      return undefined;
    }),
  );
}

async function removeAll(connection: Connection, paths: readonly (string | undefined)[]) {
  await Promise.all(paths.map(async (path) => path && (await connection.remove(path))));
}

/** Runs in the background. */
function takeBack(keyNodes: KeyNodes, session: Session, plan: NodePlan): void {
  const remove = async (connection: Connection) =>
    removeAll(connection, await findNodes(connection, keyNodes, plan));
  insist(session, remove).catch(() => {}); // the session has ended, and the nodes with it
}
