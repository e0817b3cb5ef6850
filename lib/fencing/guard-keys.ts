import { show } from '../core/option-values.js';

/**
 * The key where the token of `lockKey` is kept, in the Cluster slot of `dataKey`. `clientPrefix` is what the client puts in
 * front of every key. Throws `RangeError` for a key with a closing brace outside of a hash tag.
 */
export function guardKey(lockKey: string, dataKey: string, clientPrefix: string): string {
  const tag = hashTag(clientPrefix + dataKey);
  const guard = `{${tag}}:guard:${lockKey}`;
  if (hashTag(clientPrefix + guard) === tag) return guard;
  throw new RangeError(
    `the guard of key ${show(dataKey)} cannot be put into its Cluster slot: give the key a hash tag, as in "{order:42}:total"`,
  );
}

/** What decides a key's slot: the text in its first braces, unless they are empty or not closed. */
function hashTag(key: string): string {
  const open = key.indexOf('{');
  const close = key.indexOf('}', open + 1);
  return open >= 0 && close > open + 1 ? key.slice(open + 1, close) : key;
}
