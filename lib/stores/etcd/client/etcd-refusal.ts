import { reasonOf } from '../../../core/contract/safe-error.js';

/**
 * The gRPC codes of an answer that came from etcd and says that nothing was done: INVALID_ARGUMENT, NOT_FOUND, ALREADY_EXISTS,
 * PERMISSION_DENIED, FAILED_PRECONDITION, OUT_OF_RANGE, UNIMPLEMENTED, UNAUTHENTICATED
 * (https://grpc.github.io/grpc/core/md_doc_statuscodes.html). Not RESOURCE_EXHAUSTED: etcd also uses it for a write that was done
 * and ran out of space, and gRPC for a stream that was broken off.
 */
const REFUSALS = new Set([3, 5, 6, 7, 9, 11, 12, 16]);
/** The prefix of etcd's own messages. */
const EXHAUSTED = /^(?:\w+: )?8 [A-Z_]+: etcdserver: /;
const NO_SPACE = 'database space exceeded';
/** A login that was valid before. This connection is of no use any more; the next one logs in anew. */
const LOGIN_OVER = /invalid auth token|auth store is old/;
const LEASE_NOT_FOUND = 'requested lease not found';

/**
 * Nothing was done, and asking again is of no use. After any other error it is unknown whether something was done, or will be.
 */
export function isRefusal(error: unknown): boolean {
  const message = reasonOf(error);
  const code = /^(?:\w+: )?(\d+) [A-Z_]+:/.exec(message)?.[1];
  if (LOGIN_OVER.test(message)) return false;
  return code !== undefined && REFUSALS.has(Number(code));
}

/** etcd has finished with the request, whether it took effect or not. */
export function isAnswer(error: unknown): boolean {
  return isRefusal(error) || EXHAUSTED.test(reasonOf(error));
}

/** etcd writes nothing until an operator makes room. */
export function isOutOfSpace(error: unknown): boolean {
  return reasonOf(error).includes(NO_SPACE);
}

/** The session is gone from the server. */
export function isSessionGone(error: unknown): boolean {
  return reasonOf(error).includes(LEASE_NOT_FOUND);
}
