import type { Bug } from '../bug.js';

/** A script with other lines. */
function scripts(...changes: readonly (readonly [from: string, to: string])[]): Bug {
  return {
    script: (source) => changes.reduce((text, [from, to]) => text.replaceAll(from, to), source),
  };
}

/** A release does not compare. */
export const releasesAnyHolder = scripts(
  ["call('get', lock) ~= value or ", ''],
  ["if redis.call('get', KEYS[lock]) == value then", 'if true then'],
);

/** The lock is taken, also from its holder. */
export const takesFromAnyHolder = scripts(["'NX', 'PX', ttl", "'PX', ttl"]);

/** The counter begins anew with each grant. */
export const forgetsItsCounter = scripts(
  ['if is_larger and', 'fence = 7 if'],
  ['return fence end', 'return 7 end'],
);

/** A second reader does not see that the lock has a writer. */
export const letsReadersIn = scripts(['if not permits then return nil end', 'if not permits then return 0 end']); // prettier-ignore

/** A grant whose answer was lost is not granted again: its caller waits for itself. */
export const refusesItsOwn = scripts(
  ["if call('get', lock) == value then return nil end", ''],
  ["if redis.call('get', lock) ~= value then return false end", 'if true then return false end'],
);
