import { GUARDED } from './guarded.js';
import { RedisScript } from '../../../redis-client/redis-script.js';
import { PERMITS_IN_LINE, SHARING } from './sharing-parts.js';

/* KEYS of the scripts here, where they do not say otherwise: the lock keys, their queues, their sets of sharers. */

/** Answers for the leases in ARGV, each with `keysPerLock` keys for every lock. */
function forEachLease(what: string, keysPerLock: number): string {
  return `${GUARDED}
local answers = {}
local before = 0
for i = 2, #ARGV, 2 do
  local n = tonumber(ARGV[i])
  local answer, refusal = guarded(${what}, before, n, ARGV[i + 1])
  if refusal then return refusal end
  answers[#answers + 1] = answer
  before = before + ${keysPerLock} * n
end
return answers`;
}

/**
 * ARGV: value, ttl. Returns 1; or nil when a key has an exclusive holder, waiters, or no free permit, of several keys minus its
 * number; or, when it is in use with other permits, its number from 1 and those permits. Idempotent per value.
 */
export const ACQUIRE_SHARED = new RedisScript(`${SHARING}${PERMITS_IN_LINE}
local n = #KEYS / 3
local value, ttl = ARGV[1], ARGV[2]
local asked = permits_of(value)
local counts = {}
local refused = nil
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
    if is_awaited or not (count and has_room(count, permits, asked)) then refused = refused or i end
  end
end
if refused then return n > 1 and -refused end
for i = 1, n do
  enter(2 * n + i, counts[i], value, ttl)
  seal(i, 2 * n + i, asked)
end
return 1`);

/**
 * Makes locks of waiters' claims. For one or more leases, with the keys of each in their order. ARGV: ttl, then for each: number
 * of locks, value. Returns, for each: 1, or 0 when a key is not ours, or the text of an error. Admits waiters that fit beside
 * them.
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

/** As CONFIRM_SHARED, for leases that are no claims any more, and admits no waiter. KEYS, for each: the locks, their sharers. */
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

const OUTLIVE = `
local function outlive(ttl)
  if redis.call('pttl', KEYS[1]) < tonumber(ttl) then redis.call('pexpire', KEYS[1], ttl) end
  return 1
end`;

/**
 * KEYS: sharers. ARGV: value, ttl. Half of EXTEND_SHARED. Returns 1, or 0 when the value is not among them. Nothing where its
 * ttl would end earlier than before: whether the lock ends earlier, too, is unknown without both keys.
 */
export const EXTEND_SHARER = new RedisScript(`${OUTLIVE}
local time = redis.call('time')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local ends = redis.call('zscore', KEYS[1], ARGV[1])
if not ends or tonumber(ends) <= now then return 0 end
if tonumber(ends) > now + ARGV[2] then return nil end
redis.call('zadd', KEYS[1], now + ARGV[2], ARGV[1])
return outlive(ARGV[2])`);

/** KEYS: lock. ARGV: value, ttl. The other half. Returns 1, or 0 when the lock is not shared with the permits of this value. */
export const EXTEND_LOCK_OF_SHARERS = new RedisScript(`${OUTLIVE}
local permits = string.match(ARGV[1], '^~?[%w_-]+(%*%w+)%.')
if redis.call('get', KEYS[1]) ~= permits then return 0 end
return outlive(ARGV[2])`);

/** ARGV: value. Returns 1, or 0 when a key had been lost. Hands freed locks to their waiters. */
export const RELEASE_SHARED = new RedisScript(`${SHARING}
local n = #KEYS / 3
local released = 1
for i = 1, n do
  if take_out(i, 2 * n + i, ARGV[1]) then admit(i, n + i, 2 * n + i) else released = 0 end
end
return released`);

/**
 * ARGV: the value of an exclusive holder, and its value as a sharer from now on, for the rest of its ttl. Returns 1, or 0 when a
 * key is not ours. Idempotent per value. Admits the sharers at the head of the line.
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
