import { RedisScript } from '../../../lib/redis-client/redis-script.js';
import { ACQUIRE_OR_RELEASE } from '../../../lib/stores/redis/lua/lock-script.js';

const CALL = 'local answer = ';

/** The script that takes and frees locks, and the same without its fast path: that may change the time it takes, and no more. */
export const LOCK_SCRIPTS: readonly (readonly [string, RedisScript])[] = [
  ['with the fast path', ACQUIRE_OR_RELEASE],
  ['without the fast path', withoutFastPath()],
];

function withoutFastPath(): RedisScript {
  const parts = ACQUIRE_OR_RELEASE.source.split(`${CALL}fast_path(`);
  if (parts.length !== 3)
    throw new Error('the fast path is called once for one lock, once for each of many');
  return new RedisScript(parts.join(`${CALL}nil and fast_path(`));
}
