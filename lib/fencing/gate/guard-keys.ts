import { hashTag } from '../../redis-client/cluster-slot.js';

/** The prefix of guards, which no key of data may have. */
const GUARDS = /^\{[^}]+\}:guard:/;

/**
 * The key where the token of `lockKey` is kept, in the Cluster slot of `dataKey`. `clientPrefix` is what the client puts in
 * front of every key. `undefined` for a key with a closing brace outside of a hash tag.
 */
export function guardKey(
  lockKey: string,
  dataKey: string,
  clientPrefix: string,
): string | undefined {
  const tag = hashTag(clientPrefix + dataKey);
  const guard = `{${tag}}:guard:${lockKey}`;
  return hashTag(clientPrefix + guard) === tag ? guard : undefined;
}

export function isGuardKey(key: string): boolean {
  return GUARDS.test(key);
}
