import { RedisScript } from '../../../redis-client/redis-script.js';
import { MARKS } from './line-parts.js';
import { CLOCK, FENCING_BLOCK, MINT, RAISE_COUNTER } from './fencing-token.js';
import { HAND_OFF } from './hand-off.js';

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
 * For many leases of one key each. KEYS: the locks. ARGV: ttl, then the value of each. Returns 1, or the place of each lease
 * that is not extended and the text of its error, which is empty where the key is not ours.
 */
export const EXTEND_MANY = new RedisScript(`
local exceptions
for i, lock in ipairs(KEYS) do
  local holder = redis.pcall('get', lock)
  if holder == ARGV[i + 1] then
    redis.call('pexpire', lock, ARGV[1])
  else
    exceptions = exceptions or {}
    exceptions[#exceptions + 1] = { i, type(holder) == 'table' and holder.err or '' }
  end
end
return exceptions or 1`);

/**
 * For the next holder of a lock that is ours: one in this process, or a waiter with a claim.
 * KEYS: lock, counter, queue.
 * ARGV: value, ttl, and optionally two fencing tokens from elsewhere, as for RAISE.
 * Returns the first of a block of fencing tokens (for tokens from elsewhere: the first of those two) and 1 if others wait; or
 * nil when the lock is not ours, or the counter is beyond them.
 */
export const RENEW = new RedisScript(`${CLOCK}${MINT}${RAISE_COUNTER}${MARKS}
if redis.call('get', KEYS[1]) ~= ARGV[1] then return nil end
if ARGV[3] and not may_raise(2, ARGV[3]) then return nil end
redis.call('pexpire', KEYS[1], ARGV[2])
answered(3, ARGV[1])
if ARGV[3] then
  raise(2, ARGV[4])
  return { ARGV[3], redis.call('exists', KEYS[3]) }
end
return { mint(2, 2, ${FENCING_BLOCK}), redis.call('exists', KEYS[3]) }`);

/**
 * Frees a lock without a hand-off. KEYS: lock, line. ARGV: value. Returns 1 if others wait, else 0; or nil when it is not ours.
 */
export const LEAVE_FREE = new RedisScript(`
if redis.call('get', KEYS[1]) ~= ARGV[1] then return nil end
redis.call('del', KEYS[1])
return redis.call('exists', KEYS[2])`);

/** Hands a free lock to the head of the line. KEYS: lock, line. */
export const HAND_ON = new RedisScript(`${HAND_OFF}
if redis.call('exists', KEYS[1]) == 0 then hand_off(1, 2) end`);

/**
 * KEYS: the lock keys, their counters, their queues. ARGV: value, and two fencing tokens: counters no larger than the first are
 * raised to the second. Returns 1, or 0 when a lock is not ours or a counter is larger.
 */
export const RAISE = new RedisScript(`${RAISE_COUNTER}
local n = #KEYS / 3
for i = 1, n do
  if redis.call('get', KEYS[i]) ~= ARGV[1] or not may_raise(n + i, ARGV[2]) then return 0 end
end
for i = 1, n do raise(n + i, ARGV[3]) end
return 1`);

/** KEYS: some of one slot. Changes nothing: makes a Cluster client find the way to them. */
export const LOOK = new RedisScript(`return redis.call('exists', unpack(KEYS))`);
