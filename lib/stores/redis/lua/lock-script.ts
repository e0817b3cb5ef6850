import { CALL, FAST_FREE, FREE, RELEASE } from './free-script.js';
import { CLOCK, COUNTER_SECONDS, MINT } from './fencing-token.js';
import { HAND_OFF } from './hand-off.js';
import { RedisScript } from '../../../redis-client/redis-script.js';

/** One key without a waiter: nearly every call. Answers before the rest is defined (`bench/uncontended.mjs`). */
const FAST_TAKE = `${CLOCK}
local now
-- The answer of \`acquire\` for one key without a waiter. Nil: it has to be called.
local function fast_take(lock, counter, line, value, ttl, floor)
  if not call('set', lock, value, 'NX', 'PX', ttl) then
    if call('get', lock) == value then return nil end
    return false
  end
  if not floor or floor == '' then
    now = now or string.format('%.0f', micros())
    floor = now
  end
  local fence = tonumber(floor)
  local before = call('set', counter, floor, 'EX', '${COUNTER_SECONDS}', 'GET')
  local is_larger = not before or tonumber(string.match(before, '^%d+')) < fence
  if is_larger and call('exists', line) == 0 then return fence end
  if not is_larger then call('set', counter, before, 'EX', '${COUNTER_SECONDS}') end
  call('del', lock)
end`;

const ACQUIRE = `
-- The fencing token, or false when the key is held by another value or awaited by others; of several keys, minus the number of
-- one such key. Idempotent per value.
local function acquire(before, n, value, ttl, floor)
  local counters, queues = before + n, before + 2 * n
  if n > 1 then
    for i = 1, n do
      local holder = redis.call('get', KEYS[before + i])
      if holder and holder ~= value then return -i end
    end
  end
  local is_new = true
  for i = 1, n do
    local lock = KEYS[before + i]
    if not redis.call('set', lock, value, 'NX', 'PX', ttl) then
      if redis.call('get', lock) ~= value then return false end
      is_new = false
      redis.call('pexpire', lock, ttl)
    end
  end
  local fence = mint(counters + 1, counters + n, 1, floor)
  if not is_new then return fence end
  -- The last holder's ttl ran out, so the waiters in line have not been asked yet.
  local is_awaited = false
  for i = 1, n do is_awaited = is_awaited or redis.call('exists', KEYS[queues + i]) == 1 end
  if not is_awaited then return fence end
  local taken = nil
  for i = 1, n do
    hand_off(before + i, queues + i)
    if redis.call('exists', KEYS[before + i]) == 1 then taken = taken or i end
  end
  if taken then return n > 1 and -taken end
  for i = 1, n do redis.call('set', KEYS[before + i], value, 'PX', ttl) end
  return fence
end`;

/**
 * Takes one lock. KEYS: the lock keys, their counters, their lines. ARGV: value, ttl, and the least fencing token or nothing, which is
 * the server's clock. Returns the answer of `acquire`.
 */
export const TAKE = new RedisScript(`${CALL}${FAST_TAKE}
if #KEYS == 3 then
  local answer = fast_take(KEYS[1], KEYS[2], KEYS[3], ARGV[1], ARGV[2], ARGV[3])
  if answer ~= nil then return answer end
end${MINT}${HAND_OFF}${ACQUIRE}
return acquire(0, #KEYS / 3, ARGV[1], ARGV[2], ARGV[3])`);

/**
 * Takes and frees several locks, one after the other. KEYS, for each: the lock keys, their counters, their lines. ARGV, for each: the
 * words of `batchArgs`. Returns, for each: the answer of TAKE or FREE, or the text of an error, which does not affect the others.
 */
export const TAKE_AND_FREE =
  new RedisScript(`${CALL}${FAST_TAKE}${FAST_FREE}${MINT}${HAND_OFF}${ACQUIRE}${RELEASE}
local function take_or_free(before, n, value, ttl, last)
  local lock, counter, line = KEYS[before + 1], KEYS[before + 2], KEYS[before + 3]
  if ttl == '-' then
    return n == 1 and fast_free(lock, line, value) or release(before, n, value, last)
  end
  local answer
  if n == 1 then answer = fast_take(lock, counter, line, value, ttl, last) end
  if answer ~= nil then return answer end
  return acquire(before, n, value, ttl, last)
end
local has_one_key_each = #KEYS == #ARGV
local answers = {}
local failures = 0
local before = 0
for i = 1, #ARGV, 3 do
  local ttl, n = ARGV[i + 1], 1
  if not has_one_key_each then
    ttl, n = string.match(ttl, '^(%S+) ?(%d*)$')
    n = tonumber(n) or 1
  end
  local is_done, answer = pcall(take_or_free, before, n, ARGV[i], ttl, ARGV[i + 2])
  if not is_done then
    failures = failures + 1
    -- As an error of the command, so that a client configured for it connects to the new master.
    if string.find(answer, 'READONLY', 1, true) then return redis.error_reply(answer) end
  end
  answers[#answers + 1] = answer
  before = before + 3 * n
end
if failures == #answers then return redis.error_reply(answers[1]) end
return answers`);

/** A request about a lock. */
export interface Wanted {
  /** Missing: to free it. */
  readonly ttl?: number;
  /**
   * Of a lock that is taken, the least fencing token. Of one that is freed, the milliseconds for which a waiter of the same store
   * gets it, if it is next.
   */
  readonly last?: bigint | number | undefined;
}

/** The script for a request that is alone in its call. */
export function loneScript({ ttl }: Wanted): RedisScript {
  return ttl === undefined ? FREE : TAKE;
}

/** The arguments of `loneScript`. */
export function loneArgs(value: string, { ttl, last }: Wanted): (string | number)[] {
  const args = ttl === undefined ? [value] : [value, ttl];
  if (last !== undefined) args.push(last.toString());
  return args;
}

/**
 * The words of TAKE_AND_FREE for one lock: value, "<ttl> <number of keys>", `last`, empty where it is missing. A ttl of `-` frees the
 * lock. The number is missing where it is 1.
 */
export function batchArgs(value: string, keyCount: number, { ttl, last }: Wanted): string[] {
  const what = ttl === undefined ? '-' : String(ttl);
  return [value, keyCount === 1 ? what : `${what} ${keyCount}`, last?.toString() ?? ''];
}
