import { RedisScript } from './redis-script.js';

/*
 * A lock is the plain string key of the canonical single-instance algorithm (SET key value NX PX, compare-and-delete), so
 * holders written in any language exclude each other. Beside it lives a counter, "<last fencing token> <its value>", and
 * " r" behind that once it was released. It outlives the lock by a day. The counter never goes back while clocks are sane, even when it was lost: it is at least the
 * server's clock in microseconds. `%.0f`, because Lua writes large numbers with 14 digits only.
 */

/** Seconds that a counter outlives the last use of its key. The clock floor makes its loss harmless. */
const COUNTER_SECONDS = 86_400;

/**
 * KEYS: the lock keys, then their counters. ARGV: value, ttl, and perhaps a floor for the fencing token.
 * Returns the fencing token, or nil when a key is held by another value. Idempotent per value.
 */
export const ACQUIRE = new RedisScript(`
local n = #KEYS / 2
if n > 1 then
  for i = 1, n do
    local holder = redis.call('get', KEYS[i])
    if holder and holder ~= ARGV[1] then return nil end
  end
end
for i = 1, n do
  if not redis.call('set', KEYS[i], ARGV[1], 'NX', 'PX', ARGV[2]) then
    if redis.call('get', KEYS[i]) ~= ARGV[1] then return nil end
    redis.call('pexpire', KEYS[i], ARGV[2])
  end
end
local time = redis.call('time')
local fence = time[1] * 1000000 + time[2]
if ARGV[3] then fence = math.max(fence, tonumber(ARGV[3])) end
local written
repeat
  written = fence
  local counter = string.format('%.0f ', fence) .. ARGV[1]
  for i = n + 1, 2 * n do
    local last = redis.call('set', KEYS[i], counter, 'EX', ${COUNTER_SECONDS}, 'GET')
    if last and last ~= counter then
      fence = math.max(fence, tonumber(string.match(last, '^%d+')) + 1)
    end
  end
until fence == written
return fence`);

/** KEYS: the lock keys, then their counters. ARGV: value, ttl. Returns 1, or 0 when a key is not ours. */
export const EXTEND = new RedisScript(`
local n = #KEYS / 2
for i = 1, n do
  if redis.call('get', KEYS[i]) ~= ARGV[1] then return 0 end
end
for i = 1, n do
  redis.call('pexpire', KEYS[i], ARGV[2])
  redis.call('expire', KEYS[n + i], ${COUNTER_SECONDS})
end
return 1`);

/**
 * KEYS: the lock keys, then their counters. ARGV: value. Returns 1, or 0 when a key had been lost.
 * Idempotent: ioredis sends a release whose reply was lost again after a reconnect, and that must not look like a loss.
 * `append` creates what is missing, which would be a counter without an expiry.
 */
export const RELEASE = new RedisScript(`
local n = #KEYS / 2
local released = 1
for i = 1, n do
  local holder = redis.call('get', KEYS[i])
  if holder == ARGV[1] then
    redis.call('del', KEYS[i])
    if redis.call('append', KEYS[n + i], ' r') == 2 then redis.call('del', KEYS[n + i]) end
  elseif holder then
    released = 0
  else
    local last = redis.call('get', KEYS[n + i])
    if not last or string.match(last, ' (.*)$') ~= ARGV[1] .. ' r' then released = 0 end
  end
end
return released`);

/** KEYS: lock, counter. Returns value, ms to live (-1: for ever), counter; or nil when the key is free. */
export const INSPECT = new RedisScript(`
local value = redis.call('get', KEYS[1])
if not value then return nil end
return { value, redis.call('pttl', KEYS[1]), redis.call('get', KEYS[2]) }`);
