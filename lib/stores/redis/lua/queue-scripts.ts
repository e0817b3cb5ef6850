import { STAND } from './line-parts.js';
import { CALLED_UP, ROW } from './pace.js';
import { GUARDED } from './guarded.js';
import { RedisScript } from '../../../redis-client/redis-script.js';
import { PERMITS_IN_LINE, SHARING } from './sharing-parts.js';

/**
 * Joins or stays in the line, for one or more locks.
 * KEYS, for each: lock, line, sharers.
 * ARGV: milliseconds until the next call of the first waiter, at the latest, then for each: value, "<claim> <age> <row> <behind>".
 * The age: milliseconds since its caller asked; without one, a new place is the last. The row: how many waiters in front make its
 * heartbeat slower by one `BEAT`. Behind: the place that a new one is behind in any case, "<claim> <value>".
 * Returns, for each: { 1 } when the lock is ours, else { 0, ms until it may be free (negative: unknown), living waiters in front
 * }, or { 2, permits } when it is in use with other permits, or the text of an error. A lock that has room goes to the first
 * waiters, whether or not they are the caller.
 */
export const WAIT = new RedisScript(`${SHARING}${PERMITS_IN_LINE}${GUARDED}${STAND}
-- With an exclusive holder or caller: until the end of the lock. Else until a sharer may have gone, or the head of the line.
local function time_left(lock, line, sharers, asked, permits)
  if not (asked and permits) then return redis.call('pttl', KEYS[lock]) end
  local soonest = redis.call('zrange', KEYS[sharers], 0, 0, 'WITHSCORES')[2]
  return math.min(tonumber(soonest), first_in_line(line).lapses) - now
end
local function wait(lock, line, sharers, value, word)
  local claim, age, row, behind = string.match(word, '^(%d+) ?(%S*) ?(%d*) ?(.*)$')
  answered(line, value)
  local holder = redis.call('get', KEYS[lock])
  if holder == value then return { 1 } end
  local asked = permits_of(value)
  local count, permits = sharing(lock, sharers)
  if asked then
    if permits and redis.call('zscore', KEYS[sharers], value) then return { 1 } end
    local in_use = permits or permits_in_line(line)
    if in_use and in_use ~= asked then return { 2, in_use } end
  end
  local in_front, was_empty = stand(line, value, claim, tonumber(age), tonumber(row) or ${ROW}, behind)
  if count then
    admit(lock, line, sharers, value)
    if redis.call('get', KEYS[lock]) == value or (asked and shares(lock, sharers, value)) then return { 1 } end
    count, permits = sharing(lock, sharers)
  elseif was_empty or (in_front == 0 and string.sub(value, 1, 1) == '~') then -- a Cluster's subscriber may miss one unnoticed
    tell(holder, '! ' .. KEYS[lock])
  end
  return { 0, time_left(lock, line, sharers, asked, permits), in_front }
end
local answers = {}
for i = 1, #KEYS / 3 do
  local first = 3 * i - 2
  local answer, refusal = guarded(wait, first, first + 1, first + 2, ARGV[2 * i], ARGV[2 * i + 1])
  if refusal then return refusal end
  answers[i] = answer
end
return answers`);

/**
 * Leaves the line, and gives back a claim handed off meanwhile.
 * KEYS: lock, line, sharers.
 * ARGV: value, claim.
 * The next waiters may fit once they are at the head.
 */
export const LEAVE = new RedisScript(`${SHARING}
local value = ARGV[1]
answered(2, value)
leave_line(2, ARGV[2] .. ' ' .. value)
call_up(2, redis.call('zrange', KEYS[2], ${CALLED_UP - 1}, ${CALLED_UP - 1})[1], now)
local is_ours = redis.call('get', KEYS[1]) == value
if is_ours then redis.call('del', KEYS[1]) end
local _, permits = sharing(1, 3)
take_out(1, 3, value)
if is_ours or permits then admit(1, 2, 3) end`);
