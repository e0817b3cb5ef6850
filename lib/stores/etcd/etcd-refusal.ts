import { reasonOf } from '../../core/contract/safe-error.js';

/**
 * What gRPC calls an answer that came from etcd and says that nothing was done: INVALID_ARGUMENT, NOT_FOUND, ALREADY_EXISTS,
 * PERMISSION_DENIED, FAILED_PRECONDITION, OUT_OF_RANGE, UNIMPLEMENTED, UNAUTHENTICATED
 * (https://grpc.github.io/grpc/core/md_doc_statuscodes.html). Not RESOURCE_EXHAUSTED: etcd says so, too, of what it has done
 * when its space ran out with it, and gRPC of a stream that was broken off.
 */
const REFUSALS = new Set([3, 5, 6, 7, 9, 11, 12, 16]);
/** As it stands in front of what etcd itself has to say. */
const EXHAUSTED = /^(?:\w+: )?8 [A-Z_]+: etcdserver: /;
const NO_SPACE = 'database space exceeded';
/** It was good before: of no use for this connection any more, but for the next one, which logs in anew. */
const LOGIN_OVER = /invalid auth token|auth store is old/;
const LEASE_NOT_FOUND = 'requested lease not found';

/** Nothing was done, and asking again is of no use. After any other error nobody knows whether something was, or will be. */
export function isRefusal(error: unknown): boolean {
  const message = reasonOf(error);
  const code = /^(?:\w+: )?(\d+) [A-Z_]+:/.exec(message)?.[1];
  if (LOGIN_OVER.test(message)) return false;
  return code !== undefined && REFUSALS.has(Number(code));
}

/** etcd is done with the request, whether it took effect or not. */
export function isAnswer(error: unknown): boolean {
  return isRefusal(error) || EXHAUSTED.test(reasonOf(error));
}

/** Nothing is written any more, until somebody makes room. */
export function isOutOfSpace(error: unknown): boolean {
  return reasonOf(error).includes(NO_SPACE);
}

/** The session is gone from the server. */
export function isSessionGone(error: unknown): boolean {
  return reasonOf(error).includes(LEASE_NOT_FOUND);
}
