import { parentOf } from '../names/key-nodes.js';
import type { Session } from '../session/session.js';

/**
 * A new fencing token for nodes that hold their keys. It is the number of a write of their names into the nodes of the keys: a node
 * that is there already has a smaller number, and gets a larger one when its turn comes. Rejects when a node is gone.
 */
export async function numberOf(session: Session, nodes: readonly string[]): Promise<bigint> {
  const names = new Map(nodes.map((node) => [parentOf(node), Buffer.from(nameOf(node))]));
  const number = await session.retry((connection) => connection.number(nodes, names));
  if (number === undefined) throw goneError(nodes);
  return number;
}

export function goneError(nodes: readonly string[]): Error {
  return new Error(`${nodes.join(' or ')} was deleted at ZooKeeper`);
}

function nameOf(node: string): string {
  return node.slice(parentOf(node).length + 1);
}
