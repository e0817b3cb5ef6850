import { reasonOf, withoutSecrets } from '../core/contract/safe-error.js';

/**
 * A rejection of a Redis client without the command and its arguments, the password of `AUTH` among them. Where no node of a
 * Cluster could be reached, with the error of the last one.
 */
export function driverError(error: unknown): unknown {
  const { lastNodeError } = (error ?? {}) as { readonly lastNodeError?: unknown };
  if (lastNodeError === undefined) return withoutSecrets(error);
  const message = `${reasonOf(error)} ${reasonOf(lastNodeError)}`;
  return new Error(message, { cause: withoutSecrets(lastNodeError) });
}

/** Whether a call failed for one of its keys only: the server's ACL may forbid that key to the user. */
export function isOfOneKey(error: unknown): boolean {
  return /^NOPERM\b.*\bkeys?\b/.test(reasonOf(error));
}
