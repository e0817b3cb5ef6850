import { resolveCopy, resolveServers } from './copy-options.js';
import type { RedisCopyOptions, RedisCopyServers } from './copy-options.js';
import { RedisCopy } from './redis-copy.js';
import type { RedisCopyResult } from './redis-copy.js';

/**
 * Moves the locks of one Redis server to another one, while applications hold them and know of nothing. At no time do both servers
 * grant: `from` is closed, then the locks are copied, then `to` is opened. Held locks are in jeopardy meanwhile, and calls fail
 * as with a store that is down.
 *
 * Rejects with `CopyError`: `LOCK_COPY_REFUSED` before anything was changed; `LOCK_COPY_UNDONE` once `from` serves again;
 * `LOCK_COPY_CUT_OFF` where only `settleRedisCopy` can go on. Throws `TypeError` or `RangeError` naming the option.
 */
export async function copyRedisLocks(options: RedisCopyOptions): Promise<RedisCopyResult> {
  return new RedisCopy(resolveCopy(options)).run();
}

/**
 * After a copy that was cut off, by a crash, say. Resolves `moved` where `to` was open already: `from` is then retired. Else
 * `undone`: `from` serves again, and `to` is empty. Safe to repeat. Make sure that the process of the copy has ended: it could open `to`
 * after `from` was opened again.
 */
export async function settleRedisCopy(options: RedisCopyServers): Promise<'moved' | 'undone'> {
  const servers = resolveServers(options);
  const copy = new RedisCopy({ ...servers, within: 0, move: () => undefined });
  return copy.settle();
}
