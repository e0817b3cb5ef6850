import type { Compare, RangeRequest, RequestOp, TxnRequest } from './etcd-client.js';
import type { Queue } from './etcd-keys.js';

/** A node that is to be, below the session that it lives by. */
export interface NewNodes {
  readonly nodes: readonly Buffer[];
  readonly holder: string;
  readonly session: string;
  readonly guard: Buffer;
  /** The guard's version: a later one means that this request is to have no effect. */
  readonly epoch: string;
}

/** The last of a queue, or the last before a revision. */
function last({ range }: Queue, count: number, upTo?: string): RangeRequest {
  const sorted = { sort_order: 'Descend', sort_target: 'Create', limit: count } as const;
  return { ...range, ...sorted, ...(upTo !== undefined && { max_create_revision: upTo }) };
}

/** Who holds: the lowest create revision. */
export function first({ range }: Queue): RangeRequest {
  return { ...range, sort_order: 'Ascend', sort_target: 'Create', limit: 1 };
}

/** Creates a node in each queue if all are empty. Else tells the first of each, then the guard. */
export function takeAll(queues: readonly Queue[], made: NewNodes): TxnRequest {
  return {
    compare: [...queues.map(isEmpty), isAt(made)],
    success: puts(made),
    failure: [
      ...queues.map((queue) => ({ request_range: first(queue) })),
      { request_range: { key: made.guard } },
    ],
  };
}

/** Creates a node, and tells the last two: it, and the one before it. Else tells the guard. */
export function join(queue: Queue, made: NewNodes): TxnRequest {
  return {
    compare: [isAt(made)],
    success: [...puts(made), { request_range: last(queue, 2) }],
    failure: [{ request_range: { key: made.guard } }],
  };
}

/** Tells who stands before the node, if the node is still the one that was created then. */
export function look(queue: Queue, node: Buffer, revision: bigint): TxnRequest {
  return {
    compare: [isOf(node, revision)],
    success: [{ request_range: last(queue, 1, String(revision - 1n)) }],
    failure: [],
  };
}

/** Succeeds if all nodes are still those that were created then. */
export function confirm(nodes: readonly Buffer[], revision: bigint): TxnRequest {
  return { compare: nodes.map((node) => isOf(node, revision)), success: [], failure: [] };
}

/** Deletes those nodes that are still the ones that were created then: a name alone proves nothing (etcd#22082). */
export function leave(nodes: readonly Buffer[], revision: bigint): TxnRequest {
  const guarded = nodes.map((node): TxnRequest => ({
    compare: [isOf(node, revision)],
    success: [{ request_delete_range: { key: node } }],
    failure: [],
  }));
  if (guarded.length === 1) return guarded[0]!;
  return { compare: [], success: guarded.map((each) => ({ request_txn: each })), failure: [] };
}

/**
 * Deletes nodes whose creation was never confirmed, and sees to it that a creation which is still on its way comes to nothing.
 * The names are used once, so they prove enough here. `isOver`: it is not on its way any more. Nothing is written then, so
 * that an etcd which is out of space agrees.
 */
export function revoke({ nodes, guard, session }: NewNodes, isOver: boolean): TxnRequest {
  const raised = { request_put: { key: guard, value: Buffer.alloc(0), lease: session } };
  return {
    compare: [],
    success: [
      ...nodes.map((key) => ({ request_delete_range: { key } })),
      ...(isOver ? [] : [raised]),
      { request_range: { key: guard } },
    ],
    failure: [],
  };
}

/** A compare over a range that is empty sees a key that was never created. */
function isEmpty({ range }: Queue): Compare {
  return { target: 'Create', result: 'Equal', create_revision: '0', ...range };
}

function isOf(key: Buffer, revision: bigint): Compare {
  return { target: 'Create', result: 'Equal', create_revision: String(revision), key };
}

function isAt({ guard, epoch }: NewNodes): Compare {
  return { target: 'Version', result: 'Equal', version: epoch, key: guard };
}

function puts({ nodes, holder, session }: NewNodes): RequestOp[] {
  const value = Buffer.from(holder);
  return nodes.map((key) => ({ request_put: { key, value, lease: session } }));
}
