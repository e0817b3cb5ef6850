import { RedisScript } from '../../../redis-client/redis-script.js';
import { NUMBERS, SHARED_DEADLINE } from '../lua/line-parts.js';

/**
 * For one or more locks. Changes nothing.
 * KEYS, for each: lock, counter, line, sharers.
 * ARGV: number of waiters to name, number of sharers to name (-1: all).
 * Returns the time in ms, then for each: { value, ms to live (-1: for ever), counter, values of the sharers (nil: not shared),
 * members of the first living waiters in the line, number of all of them }, or nil when it is free.
 */
export const INSPECT = new RedisScript(`
local time = redis.call('time')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function later_than(base) return string.format('(%.0f', base + now) end
local function waiters(line)
  local living = {}
  local count = redis.call('zcard', KEYS[line]) / 2
  if count == 0 then return living, 0 end
  local dead = redis.call('zcount', KEYS[line], ${NUMBERS}, later_than(0))
    + redis.call('zcount', KEYS[line], ${SHARED_DEADLINE}, later_than(${SHARED_DEADLINE}))
  for _, entry in ipairs(redis.call('zrangebyscore', KEYS[line], '-inf', ${NUMBERS}, 'LIMIT', 0, ARGV[1])) do
    local lapses = redis.call('zscore', KEYS[line], '@' .. entry)
    local is_living = lapses and lapses % ${SHARED_DEADLINE} >= now
    if is_living and string.sub(entry, -2) == '.!' then count = count - 1 -- the mark of a claim
    elseif is_living then living[#living + 1] = entry end
  end
  return living, math.max(count - dead, #living)
end
local function inspect(lock, counter, line, sharers)
  local value = redis.call('get', KEYS[lock])
  if not value then return false end
  local answer = { value, redis.call('pttl', KEYS[lock]), redis.call('get', KEYS[counter]), false }
  if string.find(value, '^%*%w+$') then
    answer[4] = redis.call('zrangebyscore', KEYS[sharers], later_than(0), '+inf', 'LIMIT', 0, ARGV[2])
  end
  answer[5], answer[6] = waiters(line)
  return answer
end
local answers = { now }
for i = 1, #KEYS, 4 do
  answers[#answers + 1] = inspect(i, i + 1, i + 2, i + 3)
end
return answers`);

/**
 * As INSPECT for one lock, without what stands beside it: while the slot moves, a script cannot name keys of which one is missing.
 * KEYS: lock. Nil in place of the counter and the waiters.
 */
export const INSPECT_ALONE = new RedisScript(`
local time = redis.call('time')
local value = redis.call('get', KEYS[1])
local answer = value and { value, redis.call('pttl', KEYS[1]), false, {}, false, false }
return { time[1] * 1000 + math.floor(time[2] / 1000), answer }`);
