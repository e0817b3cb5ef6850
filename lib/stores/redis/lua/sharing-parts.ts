import { LINE, SHARED_DEADLINE } from './line-parts.js';
import { TELL } from './hand-off.js';

/*
 * A shared lock is the string "*<permits>", which looks like a foreign token to exclusive callers, and beside it a sorted set of
 * the sharers' values, each with the end of its ttl, in milliseconds by the server's clock. The lock lives as long as its
 * longest sharer: a set without such a lock means nothing. Permits are a number, or inf.
 *
 * Waiters are admitted from the head of the line on, as long as they fit: no reader overtakes a writer. A script without support
 * for sharers hands the lock itself to the first of them, which counts as a sharer from then on.
 */

export const SHARING = `${TELL}${LINE}
local time = redis.call('time')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
-- Nil: an exclusive value.
local function permits_of(value)
  return string.match(value, '^~?[%w_-]+%*(%w+)%.')
end
-- The lock lives as long as its longest sharer.
local function seal(lock, sharers, permits)
  local latest = redis.call('zrange', KEYS[sharers], -1, -1, 'WITHSCORES')[2]
  latest = string.format('%.0f', tonumber(latest))
  redis.call('set', KEYS[lock], '*' .. permits, 'PXAT', latest)
  redis.call('pexpireat', KEYS[sharers], latest)
end
-- The number of sharers, and their permits if there are any. Nil: the lock has an exclusive holder, or its sharers are unknown.
local function sharing(lock, sharers)
  local holder = redis.call('get', KEYS[lock])
  if not holder then return 0 end
  local permits = string.match(holder, '^%*(%w+)$')
  if not permits then
    permits = permits_of(holder)
    if not permits then return nil end
    redis.call('del', KEYS[sharers])
    redis.call('zadd', KEYS[sharers], now + redis.call('pttl', KEYS[lock]), holder)
    seal(lock, sharers, permits)
  elseif redis.call('exists', KEYS[sharers]) == 0 then
    return nil
  end
  redis.call('zremrangebyscore', KEYS[sharers], '-inf', now)
  local count = redis.call('zcard', KEYS[sharers])
  if count > 0 then return count, permits end
  redis.call('del', KEYS[lock])
  return 0
end
-- Removes a sharer, and frees the lock with the last one. False: it was none. Its place in the set goes in any case: after a
-- manual deletion of the lock, no other call would look at the set before its end.
local function take_out(lock, sharers, value)
  local count, permits = sharing(lock, sharers)
  if redis.call('zrem', KEYS[sharers], value) == 0 or not permits then return false end
  if count == 1 then redis.call('del', KEYS[lock]) end
  return true
end
local function shares(lock, sharers, value)
  local _, permits = sharing(lock, sharers)
  return permits and redis.call('zscore', KEYS[sharers], value)
end
local function has_room(count, permits, asked)
  return count == 0 or (asked == permits and count < (tonumber(permits) or math.huge))
end
-- Adds a sharer beside \`count\` others. The caller seals the lock afterwards.
local function enter(sharers, count, value, ttl)
  if count == 0 then redis.call('del', KEYS[sharers]) end
  redis.call('zadd', KEYS[sharers], now + ttl, value)
end
-- Admits the waiters at the head of the line that fit, as claims, and wakes their processes. Frees a lock without a holder.
-- \`caller\` is alive, and learns of it by its reply.
local function admit(lock, line, sharers, caller)
  local count, permits = sharing(lock, sharers)
  if not count then return end
  local first = first_in_line(line)
  while first do
    local value, claim = first.value, first.claim
    local asked = permits_of(value)
    local is_living = is_alive(line, first, now)
    if is_living and not has_room(count, permits, asked) then break end
    take_first(line, first, now)
    if is_living and (value == caller or tell(value, value)) then
      if not asked then
        redis.call('del', KEYS[sharers])
        return redis.call('set', KEYS[lock], value, 'PX', claim)
      end
      enter(sharers, count, value, claim)
      count, permits = count + 1, asked
    end
    first = first_in_line(line)
  end
  if count > 0 then return seal(lock, sharers, permits) end
  redis.call('del', KEYS[lock], KEYS[sharers])
end`;

/** The permits of a lock that its living waiters ask for. Nil: none. */
export const PERMITS_IN_LINE = `
local function permits_in_line(line)
  local last = redis.call('zrange', KEYS[line], -1, -1, 'WITHSCORES')
  if not last[1] or tonumber(last[2]) < ${SHARED_DEADLINE} + now then return nil end
  return permits_of(string.match(last[1], '^@%d+ (.*)$'))
end`;
