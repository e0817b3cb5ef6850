import { parentOf } from '../names/key-nodes.js';
import type { Session } from '../session/session.js';

/**
 * A new fencing token for nodes that hold their keys. It is written into the nodes of the keys: a node that is there already has a smaller
 * number, and gets a larger one when its turn comes. Rejects when a node is gone.
 */
export async function numberOf(session: Session, nodes: readonly string[]): Promise<bigint> {
  const number = await session.retry((connection) => connection.number(nodes, nodes.map(parentOf)));
  if (number === undefined) throw goneError(nodes);
  return number;
}

export function goneError(nodes: readonly string[]): Error {
  return new Error(`${nodes.join(' or ')} was deleted at ZooKeeper`);
}
