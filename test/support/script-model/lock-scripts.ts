import { RedisScript } from '../../../lib/redis-client/redis-script.js';
import { FREE } from '../../../lib/stores/redis/lua/free-script.js';
import { TAKE, TAKE_AND_FREE } from '../../../lib/stores/redis/lua/lock-script.js';

/** The scripts that take and free locks. */
export interface LockScripts {
  readonly take: RedisScript;
  readonly free: RedisScript;
  readonly takeAndFree: RedisScript;
}

const FAST: LockScripts = { take: TAKE, free: FREE, takeAndFree: TAKE_AND_FREE };
const SLOW: LockScripts = {
  take: without(['fast_take'], TAKE),
  free: without(['fast_free'], FREE),
  takeAndFree: without(['fast_take', 'fast_free'], TAKE_AND_FREE),
};

/** The same with their fast paths and without: these may change the time, and no more. */
export const LOCK_SCRIPTS: readonly (readonly [string, LockScripts])[] = [
  ['with the fast path', FAST],
  ['without the fast path', SLOW],
];

function without(names: readonly string[], { source }: RedisScript): RedisScript {
  return new RedisScript(names.reduce(withoutCall, source));
}

function withoutCall(source: string, name: string): string {
  const slow = source.replace(
    `local function ${name}(`,
    `local function ${name}() end\nlocal function unused_${name}(`,
  );
  if (slow === source) throw new Error(`${name} is not in the script`);
  return slow;
}
