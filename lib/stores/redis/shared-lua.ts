import { LINE, SHARED_DEADLINE } from './queue/line-lua.js';
import { TELL } from './redis-lua.js';

/*
 * A lock that several share is the string "*<permits>", which excludes everybody who takes it for the token of another program,
 * and beside it a sorted set of their values, each with the time at which its ttl ends, in milliseconds by the server's clock.
 * The lock lives as long as the longest of them: a set without such a lock says nothing. Permits are a number, or inf.
 *
 * Those who stand in line are let in from the first on, as long as they fit: no reader overtakes a writer. A script that knows
 * nothing of sharers hands the lock itself to the first of them, which counts as one who shares it from then on.
 */

export const SHARING = `${TELL}${LINE}
local time = redis.call('time')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
-- Nil: who has this value wants the lock alone.
local function permits_of(value)
  return string.match(value, '^~?[%w_-]+%*(%w+)%.')
end
-- The lock lives as long as the longest of those who share it.
local function seal(lock, sharers, permits)
  local latest = redis.call('zrange', KEYS[sharers], -1, -1, 'WITHSCORES')[2]
  latest = string.format('%.0f', tonumber(latest))
  redis.call('set', KEYS[lock], '*' .. permits, 'PXAT', latest)
  redis.call('pexpireat', KEYS[sharers], latest)
end
-- How many share the lock, and their permits where there are any. Nil: somebody has it alone, or nobody knows who shares it.
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
-- Takes one of those who share the lock out, and frees it with the last of them. False: it was none.
local function take_out(lock, sharers, value)
  local count, permits = sharing(lock, sharers)
  if not permits or redis.call('zrem', KEYS[sharers], value) == 0 then return false end
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
-- One more shares the lock, beside \`count\` others. The caller seals the lock afterwards.
local function enter(sharers, count, value, ttl)
  if count == 0 then redis.call('del', KEYS[sharers]) end
  redis.call('zadd', KEYS[sharers], now + ttl, value)
end
-- Lets in those who stand first in line and fit, as claims, and wakes their processes. Frees the lock when nobody has it.
-- \`caller\` is alive, and reads of it in its reply.
local function admit(lock, line, sharers, caller)
  local count, permits = sharing(lock, sharers)
  if not count then return end
  local first = first_in_line(line)
  while first do
    local value, claim = first.value, first.claim
    local asked = permits_of(value)
    local is_alive = first.lapses >= now
    if is_alive and not has_room(count, permits, asked) then break end
    take_first(line, first, now)
    if is_alive and (value == caller or tell(value, value)) then
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

/** What those who stand in line, and are alive, say of the permits of a lock. Nil: nothing. */
export const PERMITS_IN_LINE = `
local function permits_in_line(line)
  local last = redis.call('zrange', KEYS[line], -1, -1, 'WITHSCORES')
  if not last[1] or tonumber(last[2]) < ${SHARED_DEADLINE} + now then return nil end
  return permits_of(string.match(last[1], '^@%d+ (.*)$'))
end`;
