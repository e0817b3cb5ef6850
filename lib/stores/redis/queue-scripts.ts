import { FAILURE } from './redis-lua.js';
import { RedisScript } from './redis-script.js';
import { SHARING } from './shared-lua.js';

/**
 * Stands in line, or stays there, for one or more locks. KEYS, for each: lock, queue, sharers.
 * ARGV: milliseconds until the next call at the latest, then for each: value, claim.
 * Returns, for each: { 1 } when the lock is ours, else { 0, ms until it may be free (negative: unknown), waiters in front }, or
 * { 2, permits } when it is in use with other permits, or the text of an error. A lock that has room goes to the first waiters,
 * whoever they are.
 */
export const WAIT = new RedisScript(`${SHARING}${FAILURE}
local deadline = string.format('%.0f ', now + ARGV[1])
local lines = {}
-- Where each value stands in line, from 1, and the permits of those alive who want to share the lock, if any. Read once, and
-- anew after somebody was let in, which its length tells: it grows in \`stand\` alone.
local function line_in(queue)
  local name = KEYS[queue]
  local line = lines[name]
  if line and line.length == redis.call('llen', name) then return line end
  line = { length = 0, places = {} }
  for i, entry in ipairs(redis.call('lrange', name, 0, -1)) do
    local lapses, value = string.match(entry, '^(%d+) %d+ (.*)$')
    line.length, line.places[value] = i, i
    if tonumber(lapses) >= now then line.permits = line.permits or permits_of(value) end
  end
  lines[name] = line
  return line
end
local function stand(queue, value, claim)
  local line = line_in(queue)
  local entry = deadline .. claim .. ' ' .. value
  local place = line.places[value]
  if place then
    redis.call('lset', KEYS[queue], place - 1, entry)
  else
    place = redis.call('rpush', KEYS[queue], entry)
    line.length, line.places[value] = place, place
  end
  line.permits = line.permits or permits_of(value)
  return place - 1
end
-- Of a lock that somebody has alone, or that is wanted alone, until its end. Else until one of those who share it may be gone, or
-- the first in line.
local function time_left(lock, queue, sharers, asked, permits)
  if not (asked and permits) then return redis.call('pttl', KEYS[lock]) end
  local soonest = redis.call('zrange', KEYS[sharers], 0, 0, 'WITHSCORES')[2]
  local lapses = string.match(redis.call('lindex', KEYS[queue], 0), '^%d+')
  return math.min(tonumber(soonest), tonumber(lapses)) - now
end
local function wait(lock, queue, sharers, value, claim)
  local holder = redis.call('get', KEYS[lock])
  if holder == value then return { 1 } end
  local asked = permits_of(value)
  local count, permits = sharing(lock, sharers)
  if asked then
    if permits and redis.call('zscore', KEYS[sharers], value) then return { 1 } end
    local in_use = permits or line_in(queue).permits
    if in_use and in_use ~= asked then return { 2, in_use } end
  end
  local was_empty = redis.call('exists', KEYS[queue]) == 0
  local in_front = stand(queue, value, claim)
  redis.call('pexpire', KEYS[queue], ARGV[1])
  if count then
    admit(lock, queue, sharers, value)
    if redis.call('get', KEYS[lock]) == value or (asked and shares(lock, sharers, value)) then return { 1 } end
    count, permits = sharing(lock, sharers)
  elseif was_empty or (in_front == 0 and string.sub(value, 1, 1) == '~') then -- a Cluster's subscriber may miss one unseen
    tell(holder, '! ' .. KEYS[lock])
  end
  return { 0, time_left(lock, queue, sharers, asked, permits), in_front }
end
local answers = {}
for i = 1, #KEYS / 3 do
  local first = 3 * i - 2
  local is_done, answer = pcall(wait, first, first + 1, first + 2, ARGV[2 * i], ARGV[2 * i + 1])
  if not is_done then
    local text, refusal = failure(answer)
    if refusal then return refusal end
    answer = text
  end
  answers[i] = answer
end
return answers`);

/**
 * Leaves the line, and gives back what was handed over meanwhile. KEYS: lock, queue, sharers. ARGV: value.
 * Those behind may fit where they stand first.
 */
export const LEAVE = new RedisScript(`${SHARING}
local value = ARGV[1]
for _, entry in ipairs(redis.call('lrange', KEYS[2], 0, -1)) do
  if string.match(entry, '^%d+ %d+ (.*)$') == value then
    redis.call('lrem', KEYS[2], 1, entry)
    break
  end
end
local is_ours = redis.call('get', KEYS[1]) == value
if is_ours then redis.call('del', KEYS[1]) end
local _, permits = sharing(1, 3)
take_out(1, 3, value)
if is_ours or permits then admit(1, 2, 3) end`);
