import { fieldsOf } from '../../../core/contract/fields.js';
import { UnknownAnswerError } from '../../../core/contract/unknown-answer.js';
import type {
  EtcdClient,
  LeaseGranted,
  LeaseKept,
  RequestOp,
  TxnRequest,
  TxnResponse,
  WatchResponse,
} from './etcd-client.js';

/** 64-bit numbers arrive as decimal strings. */
const NUMBER = /^-?\d+$/;

/** A client whose answers are checked. After any other answer it is unknown what was done, as after one that was lost. */
export function checked(client: EtcdClient): EtcdClient {
  const { kv, leaseClient, watchClient } = client;
  return {
    kv: {
      txn: async (request, options) => {
        const answer: unknown = await kv.txn(request, options);
        checkTxn(request, answer);
        return answer;
      },
    },
    leaseClient: {
      leaseGrant: async (request, options) => {
        const answer: unknown = await leaseClient.leaseGrant(request, options);
        checkLease(answer);
        if (Number(answer.TTL) > 0) return answer;
        throw new UnknownAnswerError('a lease that lives', answer);
      },
      leaseRevoke: (request, options) => leaseClient.leaseRevoke(request, options),
      leaseKeepAlive: () => leaseClient.leaseKeepAlive(),
    },
    watchClient: { watch: () => watchClient.watch() },
    close: () => client.close(),
  };
}

/** Throws for an answer that is not about the lease `id`. */
export function checkKept(id: string, answer: unknown): asserts answer is LeaseKept {
  checkLease(answer);
  if (answer.ID !== id) throw new UnknownAnswerError('an answer about this lease', answer);
}

export function isWatchResponse(message: unknown): message is WatchResponse {
  const { header, watch_id: id, canceled, compact_revision: compacted, events } = fieldsOf(message);
  const isTold = typeof canceled === 'boolean' && Array.isArray(events) && isNumber(compacted);
  return isTold && isNumber(id) && isNumber(fieldsOf(header)['revision']);
}

function checkLease(answer: unknown): asserts answer is LeaseGranted {
  const { ID: id, TTL: ttl } = fieldsOf(answer);
  if (!isNumber(id) || !isNumber(ttl)) throw new UnknownAnswerError('a lease', answer);
}

function checkTxn(
  { success, failure }: TxnRequest,
  answer: unknown,
): asserts answer is TxnResponse {
  const { header, succeeded, responses } = fieldsOf(answer);
  if (typeof succeeded !== 'boolean') throw new UnknownAnswerError('succeeded or not', answer);
  const asked = succeeded ? success : failure;
  if (!Array.isArray(responses) || responses.length !== asked.length)
    throw new UnknownAnswerError(`${asked.length} responses`, responses);
  asked.forEach((operation, index) => checkResponse(operation, responses[index]));
  if (header !== undefined && !isNumber(fieldsOf(header)['revision']))
    throw new UnknownAnswerError('a revision', header);
}

function checkResponse({ request_range: range, request_txn: txn }: RequestOp, answer: unknown) {
  const { response_range: ranged, response_txn: done } = fieldsOf(answer);
  if (txn) return checkTxn(txn, done);
  if (!range) return;
  const { kvs } = fieldsOf(ranged);
  if (!Array.isArray(kvs) || !kvs.every(isKeyValue))
    throw new UnknownAnswerError('the keys of a range', ranged);
}

function isKeyValue(kv: unknown): boolean {
  const { key, value, create_revision: revision, version, lease } = fieldsOf(kv);
  const areBytes = key instanceof Uint8Array && value instanceof Uint8Array;
  return areBytes && [revision, version, lease].every(isNumber);
}

function isNumber(value: unknown): boolean {
  return typeof value === 'string' && NUMBER.test(value);
}
