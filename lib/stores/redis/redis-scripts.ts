import { FENCING_BLOCK, FIRST_LINE, HAND_OVER, MINT, RAISE_COUNTER } from './redis-lua.js';
import { RedisScript } from './redis-script.js';

/**
 * KEYS: the lock keys, their counters, their queues. ARGV: value, ttl, and perhaps a floor for the fencing token.
 * Returns the fencing token, or nil when a key is held by another value or awaited by others. Idempotent per value.
 */
export const ACQUIRE = new RedisScript(`${MINT}${HAND_OVER}
local n = #KEYS / 3
if n > 1 then
  for i = 1, n do
    local holder = redis.call('get', KEYS[i])
    if holder and holder ~= ARGV[1] then return nil end
  end
end
local is_new = true
for i = 1, n do
  if not redis.call('set', KEYS[i], ARGV[1], 'NX', 'PX', ARGV[2]) then
    if redis.call('get', KEYS[i]) ~= ARGV[1] then return nil end
    is_new = false
    redis.call('pexpire', KEYS[i], ARGV[2])
  end
end
local fence, was_released = mint(n + 1, 2 * n, ARGV[1], 1, ARGV[3])
if was_released or not is_new then return fence end
-- The last holder's ttl ran out, so whoever stands in line has not been asked yet.
local is_awaited = false
for i = 1, n do is_awaited = is_awaited or redis.call('exists', KEYS[2 * n + i]) == 1 end
if not is_awaited then return fence end
local is_taken = false
for i = 1, n do
  hand_over(i, n + i, 2 * n + i)
  is_taken = is_taken or redis.call('exists', KEYS[i]) == 1
end
if is_taken then return nil end
for i = 1, n do redis.call('set', KEYS[i], ARGV[1], 'PX', ARGV[2]) end
return (mint(n + 1, 2 * n, ARGV[1], 1, ARGV[3]))`);

/**
 * For one or more leases. KEYS: the locks of each. ARGV: ttl, then for each: number of locks, value.
 * Returns, for each: 1, or 0 when a key is not ours, or the text of an error.
 */
export const EXTEND = new RedisScript(`
local function extend(first, last, value)
  for i = first, last do
    local holder = redis.pcall('get', KEYS[i])
    if type(holder) == 'table' then return holder.err end
    if holder ~= value then return 0 end
  end
  for i = first, last do redis.call('pexpire', KEYS[i], ARGV[1]) end
  return 1
end
local answers = {}
local last = 0
for i = 2, #ARGV, 2 do
  local first = last + 1
  last = last + ARGV[i]
  answers[#answers + 1] = extend(first, last, ARGV[i + 1])
end
return answers`);

/**
 * KEYS: the lock keys, their counters, their queues. ARGV: value. Returns 1, or 0 when a key had been lost.
 * Hands each key to its first waiter. Idempotent until the next holder, and if that one came from the queue, until the one after
 * it: ioredis sends a release whose reply was lost again after a reconnect, and that must not look like a loss.
 */
export const RELEASE = new RedisScript(`${HAND_OVER}${FIRST_LINE}
local function was_released(counter)
  local text = string.match(first_line(redis.call('get', KEYS[counter])), '^%d+ (.*)$') or ''
  if string.find(text, ' < ' .. ARGV[1], 1, true) then return true end
  local rest = string.sub(text, 1, #ARGV[1]) == ARGV[1] and string.sub(text, #ARGV[1] + 1) or ''
  return string.match(rest, ' r[ h]*$')
end
local n = #KEYS / 3
local released = 1
for i = 1, n do
  if redis.call('get', KEYS[i]) == ARGV[1] then
    mark(n + i, ' r')
    hand_over(i, n + i, 2 * n + i)
  elseif not was_released(n + i) then
    released = 0
  end
end
return released`);

/**
 * For the next holder of a lock that is ours: one in this process, or the one that a claim was handed to.
 * KEYS: lock, counter, queue. ARGV: value, ttl, and perhaps two fencing tokens, as for RAISE, that come from elsewhere.
 * Returns the first of a block of fencing tokens (where they come from elsewhere: the first of those two) and 1 if others
 * wait; or nil when the lock is not ours, or the counter is beyond them.
 */
export const RENEW = new RedisScript(`${MINT}${RAISE_COUNTER}${FIRST_LINE}
if redis.call('get', KEYS[1]) ~= ARGV[1] then return nil end
if ARGV[3] and not may_raise(2, ARGV[3]) then return nil end
redis.call('pexpire', KEYS[1], ARGV[2])
if ARGV[3] then
  raise(2, ARGV[1], ARGV[4])
  return { ARGV[3], redis.call('exists', KEYS[3]) }
end
local fence, _, before = mint(2, 2, ARGV[1], ${FENCING_BLOCK})
local released = string.match(first_line(before), '^%d+ (.*) r[ h]+$')
if released then redis.call('append', KEYS[2], ' < ' .. string.gsub(released, ' < .*', '')) end
-- Who left before one released who had the lock alone is two holders ago.
local left = string.match(before or '', '(\\n.*\\n)[ h]*$')
if left then redis.call('append', KEYS[2], left) end
return { fence, redis.call('exists', KEYS[3]) }`);

/**
 * KEYS: the lock keys, their counters, their queues. ARGV: value, and two fencing tokens: counters that are no larger than
 * the first are raised to the second. Returns 1, or 0 when a lock is not ours or a counter is larger.
 */
export const RAISE = new RedisScript(`${RAISE_COUNTER}
local n = #KEYS / 3
for i = 1, n do
  if redis.call('get', KEYS[i]) ~= ARGV[1] or not may_raise(n + i, ARGV[2]) then return 0 end
end
for i = 1, n do raise(n + i, ARGV[1], ARGV[3]) end
return 1`);

/**
 * KEYS: lock, counter, queue, sharers. Returns value, ms to live (-1: for ever), counter, and where several share the lock the
 * value of each; or nil when the key is free.
 */
export const INSPECT = new RedisScript(`
local value = redis.call('get', KEYS[1])
if not value then return nil end
local answer = { value, redis.call('pttl', KEYS[1]), redis.call('get', KEYS[2]) }
if string.find(value, '^%*%w+$') then
  local time = redis.call('time')
  local now = string.format('(%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
  answer[4] = redis.call('zrangebyscore', KEYS[4], now, '+inf')
end
return answer`);

/** KEYS: some of one slot. Changes nothing: makes a Cluster client find the way to them. */
export const LOOK = new RedisScript(`return redis.call('exists', unpack(KEYS))`);
