import { RELEASE } from './release-part.js';
import { COUNTER_SECONDS, MINT } from './fencing-token.js';
import { HAND_OFF } from './hand-off.js';
import { RedisScript } from '../../../redis-client/redis-script.js';

/** One key without a waiter: nearly every call. Answers before the rest is defined (`bench/uncontended.mjs`). */
const FAST_PATH = `
local call = redis.call
local now
-- The answer of \`acquire\` or \`release\` for one key without a waiter. Nil: they have to be called.
local function fast_path(lock, counter, queue, value, ttl, floor)
  if ttl == '-' then
    if redis.pcall('get', lock) ~= value or call('exists', queue) == 1 then return nil end
    return call('del', lock)
  end
  if not call('set', lock, value, 'NX', 'PX', ttl) then
    if call('get', lock) == value then return nil end
    return false
  end
  if floor == '' then
    if not now then
      local time = call('time')
      now = string.format('%d%06d', time[1], time[2])
    end
    floor = now
  end
  local fence = tonumber(floor)
  local before = call('set', counter, floor, 'EX', '${COUNTER_SECONDS}', 'GET')
  local is_larger = not before or tonumber(string.match(before, '^%d+')) < fence
  if is_larger and call('exists', queue) == 0 then return fence end
  if before and not is_larger then call('set', counter, before, 'EX', '${COUNTER_SECONDS}') end
  call('del', lock)
end
-- Before the definitions that only the other cases need.
local is_lone = #ARGV == 3
local has_one_key_each = #KEYS == #ARGV
if is_lone and has_one_key_each then
  local answer = fast_path(KEYS[1], KEYS[2], KEYS[3], ARGV[1], ARGV[2], ARGV[3])
  if answer ~= nil then return answer end
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
  return mint(counters + 1, counters + n, 1, floor)
end`;

/**
 * Takes and frees locks, one after the other. KEYS, for each: the lock keys, their counters, their queues. ARGV, for each: the
 * result of `lockArgs`. Returns, for each: the answer of `acquire` or `release`, or the text of an error, which does not affect
 * the others. For one lock, the answer itself, not a list: reading a list takes the client as long as the rest.
 */
export const ACQUIRE_OR_RELEASE =
  new RedisScript(`${FAST_PATH}${MINT}${HAND_OFF}${ACQUIRE}${RELEASE}
local function take_or_free(before, n, value, ttl, floor)
  if n == 1 and not is_lone then
    local answer = fast_path(KEYS[before + 1], KEYS[before + 2], KEYS[before + 3], value, ttl, floor)
    if answer ~= nil then return answer end
  end
  if ttl == '-' then return release(before, n, value, floor) end
  return acquire(before, n, value, ttl, floor)
end
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
    answer = type(answer) == 'table' and answer.err or answer
    -- As an error of the command, so that a client configured for it connects to the new master.
    if string.find(answer, 'READONLY', 1, true) then return redis.error_reply(answer) end
  end
  answers[#answers + 1] = answer
  before = before + 3 * n
end
if failures == #answers then return redis.error_reply(answers[1]) end
if #answers == 1 then return answers[1] end
return answers`);

/** Number of arguments for one lock. */
export const WORDS = 3;

/**
 * The script's arguments for one lock: value, "<ttl> <number of keys>", floor. A ttl of `-` frees the lock. The number is
 * missing where it is 1. The floor for the fencing token is empty where that is the server's clock. For a lock that is freed, the
 * last argument is `next_ttl` of `release`.
 */
export function lockArgs(
  value: string,
  keyCount: number,
  ttl?: number,
  last?: bigint | number,
): string[] {
  const what = ttl === undefined ? '-' : String(ttl);
  return [value, keyCount === 1 ? what : `${what} ${keyCount}`, last?.toString() ?? ''];
}
