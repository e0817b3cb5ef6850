import { RedisScript } from '../../../redis-client/redis-script.js';
import { CLOCK, MINT } from './fencing-token.js';
import { HAND_OFF } from './hand-off.js';

/** For the fast paths: a name that is found once. */
export const CALL = `
local call = redis.call`;

/** One key without a waiter: nearly every call. Answers before the rest is defined (`bench/uncontended.mjs`). */
export const FAST_FREE = `
-- The answer of \`release\` for one key without a waiter. Nil: it has to be called.
local function fast_free(lock, line, value)
  if call('get', lock) ~= value or call('exists', line) == 1 then return nil end
  return call('del', lock)
end`;

/** Needs `HAND_OFF` and `MINT`. */
export const RELEASE = `
-- 1, or 0 when a key had been lost. Hands each key to its first waiter. In strict order there is a \`next_ttl\`: where the first
-- waiter is an exclusive one of the same store, it gets the key for that many milliseconds. The answer is its value and its fencing
-- token, and the server publishes no message. A \`next_ttl\` of 0 means that no exclusive caller of that store waits.
local function release(before, n, value, next_ttl)
  local released = 1
  next_ttl = tonumber(next_ttl)
  local own = next_ttl and id_of(value)
  for i = 1, n do
    local lock = before + i
    local line = before + 2 * n + i
    local next_own
    if redis.call('get', KEYS[lock]) == value then
      answered(line, value)
      next_own = hand_off(lock, line, own, next_ttl)
    else
      released = 0
    end
    if next_own then
      redis.call('set', KEYS[lock], next_own, 'PX', next_ttl)
      return { next_own, mint(before + n + i, before + n + i, 1) }
    end
  end
  return released
end`;

/** Frees one lock. KEYS: the lock keys, their counters, their lines. ARGV: value, and `next_ttl` of `release` or nothing. */
export const FREE = new RedisScript(`${CALL}${FAST_FREE}
if #KEYS == 3 then
  local answer = fast_free(KEYS[1], KEYS[3], ARGV[1])
  if answer then return answer end
end${CLOCK}${MINT}${HAND_OFF}${RELEASE}
return release(0, #KEYS / 3, ARGV[1], ARGV[2])`);
