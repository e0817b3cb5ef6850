import { reasonOf } from '../../core/store-call.js';

/**
 * What gRPC calls an answer that came from etcd and says that nothing was done: INVALID_ARGUMENT, NOT_FOUND, ALREADY_EXISTS,
 * PERMISSION_DENIED, RESOURCE_EXHAUSTED, FAILED_PRECONDITION, OUT_OF_RANGE, UNIMPLEMENTED, UNAUTHENTICATED
 * (https://grpc.github.io/grpc/core/md_doc_statuscodes.html).
 */
const REFUSALS = new Set([3, 5, 6, 7, 8, 9, 11, 12, 16]);
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

/** The session is gone from the server. */
export function isSessionGone(error: unknown): boolean {
  return reasonOf(error).includes(LEASE_NOT_FOUND);
}
