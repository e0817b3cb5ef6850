import type { KeyValue, TxnRequest } from '../client/etcd-client.js';
import type { Queue } from '../keys/etcd-keys.js';
import { allNodes } from '../queue/etcd-transactions.js';
import { nodeValue } from '../queue/node-value.js';
import type { NodeContent } from '../queue/node-value.js';

/** Returns the first node of a queue, now, or as it was at `revision`. */
export function firstNode(queue: Queue, revision?: bigint): TxnRequest {
  const at = revision === undefined ? {} : { revision: String(revision) };
  return {
    compare: [],
    success: [{ request_range: allNodes(queue, { limit: 1, ...at }) }],
    failure: [],
  };
}

/** Writes the content to a node that is still as it was read, and binds it to `lease`. Another one: its holder has lost it. */
export function replace(
  { key, create_revision, version }: KeyValue,
  content: NodeContent,
  lease: string,
): TxnRequest {
  return {
    compare: [
      { target: 'Create', result: 'Equal', create_revision, key },
      { target: 'Version', result: 'Equal', version, key },
    ],
    success: [{ request_put: { key, value: nodeValue(content), lease } }],
    failure: [],
  };
}

/** Deletes the node if it is bound to this lease. */
export function remove(key: Buffer, lease: string): TxnRequest {
  return {
    compare: [{ target: 'Lease', result: 'Equal', lease, key }],
    success: [{ request_delete_range: { key } }],
    failure: [],
  };
}
