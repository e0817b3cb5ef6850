import type { Compare, RangeRequest, RequestOp, TxnRequest } from '../client/etcd-client.js';
import type { Queue } from '../keys/etcd-keys.js';
import { nodeValue } from './node-value.js';
import type { NodeContent } from './node-value.js';
import { isShared } from '../../../core/sharing/hold-mode.js';

/** A node to create, bound to the session's lease. */
export interface NewNodes {
  readonly nodes: readonly Buffer[];
  readonly content: NodeContent;
  readonly session: string;
  readonly guard: Buffer;
  /** The guard's version. A later version cancels this request. */
  readonly epoch: string;
}

/** A node as it was created. */
export interface OwnNode {
  readonly key: Buffer;
  readonly session: string;
  readonly revision: bigint;
  readonly content: NodeContent;
}

/**
 * Creates a node in each queue if all are empty, or, with `seen`, if nothing was written to any of them after that revision.
 * Otherwise returns the nodes of each queue, at least the first, then the guard.
 */
export function takeAll(
  queues: readonly Queue[],
  made: NewNodes,
  seen: bigint | undefined,
): TxnRequest {
  const isFree = (queue: Queue) => (seen === undefined ? isEmpty(queue) : isUnchanged(queue, seen));
  const isSharer = isShared(made.content.permits);
  return {
    compare: [...queues.map(isFree), isAt(made)],
    success: puts(made),
    failure: [
      ...queues.map((queue) => ({ request_range: isSharer ? allNodes(queue) : first(queue) })),
      { request_range: { key: made.guard } },
    ],
  };
}

/** Creates a node, and returns at least it and the node before it. Otherwise returns the guard. */
export function join(queue: Queue, made: NewNodes): TxnRequest {
  const isSharer = isShared(made.content.permits);
  return {
    compare: [isAt(made)],
    success: [...puts(made), { request_range: isSharer ? allNodes(queue) : last(queue, 2) }],
    failure: [{ request_range: { key: made.guard } }],
  };
}

/**
 * Returns the nodes before this one, and the node right behind it, if it is still the one that was created then. An exclusive one
 * needs only the node right before it.
 */
export function look(queue: Queue, { key, session, revision, content }: OwnNode): TxnRequest {
  const isSharer = isShared(content.permits);
  const limits = { max_create_revision: String(revision - 1n) };
  const before = isSharer ? allNodes(queue, limits) : last(queue, 1, limits);
  const behind = { ...first(queue), min_create_revision: String(revision + 1n) };
  return {
    compare: areOwn([key], revision, session),
    success: [{ request_range: before }, ...(isSharer ? [{ request_range: behind }] : [])],
    failure: [],
  };
}

/** All nodes of a queue, in the order of arrival. */
export function allNodes({ range }: Queue, limits: Partial<RangeRequest> = {}): RangeRequest {
  return { ...range, sort_order: 'Ascend', sort_target: 'Create', ...limits };
}

/** Writes to the nodes if all are still the ones that were created then. */
export function rewrite(
  nodes: readonly Buffer[],
  revision: bigint,
  content: NodeContent,
  session: string,
): TxnRequest {
  const value = nodeValue(content);
  return {
    compare: areOwn(nodes, revision, session),
    success: nodes.map((key) => ({ request_put: { key, value, lease: session } })),
    failure: [],
  };
}

/** Succeeds if all nodes are still the ones that were created then, and returns `read`, one of them. */
export function confirm(
  nodes: readonly Buffer[],
  revision: bigint,
  session: string,
  read?: Buffer,
): TxnRequest {
  const success = read ? [{ request_range: { key: read } }] : [];
  return { compare: areOwn(nodes, revision, session), success, failure: [] };
}

/** Deletes those nodes that are still the ones that were created then: a name alone proves nothing (etcd#22082). */
export function leave(nodes: readonly Buffer[], revision: bigint, session: string): TxnRequest {
  const guarded = nodes.map((node): TxnRequest => ({
    compare: areOwn([node], revision, session),
    success: [{ request_delete_range: { key: node } }],
    failure: [],
  }));
  if (guarded.length === 1) return guarded[0]!;
  return { compare: [], success: guarded.map((each) => ({ request_txn: each })), failure: [] };
}

/**
 * Deletes nodes whose creation was never confirmed, and cancels a creation that is still on its way. The names are used once, so
 * they prove enough here. `isOver`: the creation is not on its way any more. Nothing is written then, so that an etcd without
 * space agrees.
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

/** A compare over an empty range sees a key that was never created. */
function isEmpty({ range }: Queue): Compare {
  return { target: 'Create', result: 'Equal', create_revision: '0', ...range };
}

/** No node was created since. Deleted nodes do not matter. */
function isUnchanged({ range }: Queue, seen: bigint): Compare {
  return { target: 'Mod', result: 'Less', mod_revision: String(seen + 1n), ...range };
}

/** Created then, and bound to the session: an eviction binds a node to another lease. */
function areOwn(nodes: readonly Buffer[], revision: bigint, lease: string): Compare[] {
  return nodes.flatMap((key): Compare[] => [
    { target: 'Create', result: 'Equal', create_revision: String(revision), key },
    { target: 'Lease', result: 'Equal', lease, key },
  ]);
}

function isAt({ guard, epoch }: NewNodes): Compare {
  return { target: 'Version', result: 'Equal', version: epoch, key: guard };
}

function puts({ nodes, content, session }: NewNodes): RequestOp[] {
  const value = nodeValue(content);
  return nodes.map((key) => ({ request_put: { key, value, lease: session } }));
}

function first(queue: Queue): RangeRequest {
  return allNodes(queue, { limit: 1 });
}

function last({ range }: Queue, limit: number, limits: Partial<RangeRequest> = {}): RangeRequest {
  return { ...range, sort_order: 'Descend', sort_target: 'Create', limit, ...limits };
}
