import { ATTEMPT } from './redis-lua.js';
import { RedisScript } from './redis-script.js';
import { PERMITS_IN_LINE, SHARING } from './shared-lua.js';

/*
 * KEYS of the scripts here, where they do not say otherwise: the lock keys, their queues, the sets of those who share them.
 */

/** Answers for the leases in ARGV, each of which has so many keys for every lock. */
function forEachLease(what: string, keysPerLock: number): string {
  return `${ATTEMPT}
local answers = {}
local before = 0
for i = 2, #ARGV, 2 do
  local n = tonumber(ARGV[i])
  local answer, refusal = attempt(${what}, before, n, ARGV[i + 1])
  if refusal then return refusal end
  answers[#answers + 1] = answer
  before = before + ${keysPerLock} * n
end
return answers`;
}

/**
 * ARGV: value, ttl. Returns 1; or nil when a key is held by somebody alone, awaited by others, or shared by as many as may; or, when
 * it is in use with other permits, its number from 1 and those permits. Idempotent per value.
 */
export const ACQUIRE_SHARED = new RedisScript(`${SHARING}${PERMITS_IN_LINE}
local n = #KEYS / 3
local value, ttl = ARGV[1], ARGV[2]
local asked = permits_of(value)
local counts = {}
local is_refused = false
for i = 1, n do
  local lock, queue, sharers = i, n + i, 2 * n + i
  local is_awaited = redis.call('exists', KEYS[queue]) == 1
  if is_awaited then
    admit(lock, queue, sharers)
    is_awaited = redis.call('exists', KEYS[queue]) == 1
  end
  local count, permits = sharing(lock, sharers)
  local in_use = permits or (is_awaited and permits_in_line(queue))
  if in_use and in_use ~= asked then return { i, in_use } end
  counts[i] = count
  if not (permits and redis.call('zscore', KEYS[sharers], value)) then
    is_refused = is_refused or is_awaited or not (count and has_room(count, permits, asked))
  end
end
if is_refused then return nil end
for i = 1, n do
  enter(2 * n + i, counts[i], value, ttl)
  seal(i, 2 * n + i, asked)
end
return 1`);

/**
 * Makes locks of what was handed over to those who waited. For one or more leases, with the keys of each in their order. ARGV:
 * ttl, then for each: number of locks, value. Returns, for each: 1, or 0 when a key is not ours, or the text of an error. Lets
 * those in who fit beside them.
 */
export const CONFIRM_SHARED = new RedisScript(`${SHARING}
local function confirm(before, n, value)
  for i = before + 1, before + n do
    if not shares(i, 2 * n + i, value) then return 0 end
  end
  for i = before + 1, before + n do
    redis.call('zadd', KEYS[2 * n + i], now + ARGV[1], value)
    admit(i, n + i, 2 * n + i)
  end
  return 1
end
${forEachLease('confirm', 3)}`);

/** As CONFIRM_SHARED, for leases that are no claims any more, and lets nobody in. KEYS, for each: the locks, their sharers. */
export const EXTEND_SHARED = new RedisScript(`${SHARING}
local function extend(before, n, value)
  for i = before + 1, before + n do
    if not shares(i, n + i, value) then return 0 end
  end
  for i = before + 1, before + n do
    redis.call('zadd', KEYS[n + i], now + ARGV[1], value)
    seal(i, n + i, permits_of(value))
  end
  return 1
end
${forEachLease('extend', 2)}`);

/** ARGV: value. Returns 1, or 0 when a key had been lost. Hands what is free to those who stand in line. */
export const RELEASE_SHARED = new RedisScript(`${SHARING}
local n = #KEYS / 3
local released = 1
for i = 1, n do
  if take_out(i, 2 * n + i, ARGV[1]) then admit(i, n + i, 2 * n + i) else released = 0 end
end
return released`);

/**
 * ARGV: the value of one who has the locks alone, and the one under which it shares them from now on, for the rest of its ttl.
 * Returns 1, or 0 when a key is not ours. Idempotent per value. Lets those in who stand first in line and share it.
 */
export const DOWNGRADE = new RedisScript(`${SHARING}
local n = #KEYS / 3
for i = 1, n do
  local is_alone = redis.call('get', KEYS[i]) == ARGV[1] and redis.call('pttl', KEYS[i]) > 0
  local is_ours = is_alone or shares(i, 2 * n + i, ARGV[2])
  if not is_ours then return 0 end
end
for i = 1, n do
  local lock, queue, sharers = i, n + i, 2 * n + i
  if redis.call('get', KEYS[lock]) == ARGV[1] then
    enter(sharers, 0, ARGV[2], redis.call('pttl', KEYS[lock]))
    seal(lock, sharers, permits_of(ARGV[2]))
  end
  admit(lock, queue, sharers)
end
return 1`);
