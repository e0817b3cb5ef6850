import { COUNTER_SECONDS, FIRST_LINE, HAND_OVER, MINT } from './redis-lua.js';
import { RedisScript } from './redis-script.js';

/** What is wanted nearly always, before anything is defined that only the other cases need. */
const ONE_THAT_NOBODY_AWAITS = `
if #KEYS == 3 and not string.find(ARGV[2], ' ', 1, true) then
  local call, lock, counter, queue, value, ttl = redis.call, KEYS[1], KEYS[2], KEYS[3], ARGV[1], ARGV[2]
  if ttl == '-' then
    if redis.pcall('get', lock) == value and call('exists', queue) == 0 then
      if redis.pcall('append', counter, ' r') == 2 then call('del', counter) end
      return call('del', lock)
    end
  elseif call('set', lock, value, 'NX', 'PX', ttl) then
    local time = call('time')
    local fence = time[1] * 1000000 + time[2]
    local before = call('set', counter, string.format('%.0f ', fence) .. value, 'EX', ${COUNTER_SECONDS}, 'GET')
    local was_released = before and string.sub(before, -2) == ' r'
    if not before or tonumber(string.match(before, '^%d+')) < fence then
      if was_released or call('exists', queue) == 0 then return fence end
    end
    call('del', lock)
    if before then call('set', counter, before, 'EX', ${COUNTER_SECONDS}) else call('del', counter) end
  end
end`;

const ACQUIRE = `
-- The fencing token, or false when a key is held by another value or awaited by others. Idempotent per value.
local function acquire(before, n, value, ttl, floor)
  local counters, queues = before + n, before + 2 * n
  if n > 1 then
    for i = 1, n do
      local holder = redis.call('get', KEYS[before + i])
      if holder and holder ~= value then return false end
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
  local fence, was_released = mint(counters + 1, counters + n, value, 1, floor)
  if was_released or not is_new then return fence end
  -- The last holder's ttl ran out, so whoever stands in line has not been asked yet.
  local is_awaited = false
  for i = 1, n do is_awaited = is_awaited or redis.call('exists', KEYS[queues + i]) == 1 end
  if not is_awaited then return fence end
  local is_taken = false
  for i = 1, n do
    hand_over(before + i, counters + i, queues + i)
    is_taken = is_taken or redis.call('exists', KEYS[before + i]) == 1
  end
  if is_taken then return false end
  for i = 1, n do redis.call('set', KEYS[before + i], value, 'PX', ttl) end
  return (mint(counters + 1, counters + n, value, 1, floor))
end`;

const RELEASE = `
-- 1, or 0 when a key had been lost. Hands each key to its first waiter. Idempotent until the next holder, and if that one came
-- from the queue, until the one after it: ioredis sends a release whose reply was lost again after a reconnect, and that must
-- not look like a loss.
local function was_released(counter, value)
  local text = string.match(first_line(redis.call('get', KEYS[counter])), '^%d+ (.*)$') or ''
  if string.find(text, ' < ' .. value, 1, true) then return true end
  local rest = string.sub(text, 1, #value) == value and string.sub(text, #value + 1) or ''
  return string.match(rest, ' r[ h]*$')
end
local function release(before, n, value)
  local released = 1
  for i = 1, n do
    local lock, counter = before + i, before + n + i
    if redis.call('get', KEYS[lock]) == value then
      mark(counter, ' r')
      hand_over(lock, counter, before + 2 * n + i)
    elseif not was_released(counter, value) then
      released = 0
    end
  end
  return released
end`;

/**
 * Takes and frees locks, one after the other. KEYS, for each: the lock keys, their counters, their queues. ARGV, for each: value,
 * and what `wish` makes: "<ttl> <number of keys> <floor>". A ttl of `-` frees it, the number is missing where it is 1, and the
 * floor for the fencing token where that is the server's clock.
 * Returns, for each: what `acquire` or `release` says, or the text of an error, which keeps none of the others from what it wants.
 * For one lock, that itself, and not a list: to read a list takes the client as long as the rest.
 */
export const ACQUIRE_OR_RELEASE =
  new RedisScript(`${ONE_THAT_NOBODY_AWAITS}${MINT}${HAND_OVER}${FIRST_LINE}${ACQUIRE}${RELEASE}
local answers = {}
local failures = 0
local before = 0
for i = 1, #ARGV, 2 do
  local value, ttl = ARGV[i], ARGV[i + 1]
  local n, floor = 1
  if string.find(ttl, ' ', 1, true) then
    ttl, n, floor = string.match(ttl, '^(%S+) (%d+) ?(%d*)$')
    n = tonumber(n)
  end
  local is_done, answer = pcall(ttl == '-' and release or acquire, before, n, value, ttl, floor)
  if not is_done then
    failures = failures + 1
    answer = type(answer) == 'table' and answer.err or answer
    -- As an error of the command, so that a client that is set to connect to the new master does.
    if string.find(answer, 'READONLY', 1, true) then return redis.error_reply(answer) end
  end
  answers[#answers + 1] = answer
  before = before + 3 * n
end
if failures == #answers then return redis.error_reply(answers[1]) end
if #answers == 1 then return answers[1] end
return answers`);

/** What the script is to do with so many keys. Without a `ttl` it frees them. */
export function wish(ttl: number | undefined, keyCount: number, floor?: bigint): string | number {
  if (floor !== undefined) return `${ttl} ${keyCount} ${floor}`;
  return keyCount === 1 ? (ttl ?? '-') : `${ttl ?? '-'} ${keyCount}`;
}
