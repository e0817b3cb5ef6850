import { reasonOf, withoutSecrets } from '../../core/contract/safe-error.js';

/**
 * What a client of Redis rejects with, without the command and its arguments, the password of `AUTH` among them. Where no
 * node of a Cluster could be asked, with what the last one said.
 */
export function driverError(error: unknown): unknown {
  const { lastNodeError } = (error ?? {}) as { readonly lastNodeError?: unknown };
  if (lastNodeError === undefined) return withoutSecrets(error);
  const message = `${reasonOf(error)} ${reasonOf(lastNodeError)}`;
  return new Error(message, { cause: withoutSecrets(lastNodeError) });
}

/** Whether a call failed for one of its keys, which says nothing of the others: a user of the server may not use it. */
export function isOfOneKey(error: unknown): boolean {
  return /^NOPERM\b.*\bkeys?\b/.test(reasonOf(error));
}
