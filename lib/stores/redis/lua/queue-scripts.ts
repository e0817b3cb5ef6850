import { EPOCH, NUMBERS, SHARED_DEADLINE } from './line-parts.js';
import { BEAT, CALLED_UP, ROW, SLOWEST } from './pace.js';
import { GUARDED } from './guarded.js';
import { RedisScript } from '../../../redis-client/redis-script.js';
import { PERMITS_IN_LINE, SHARING } from './sharing-parts.js';

/** Milliseconds by which a new place may be in front of the last one. Beyond, the server's clock has gone back. */
const MOST_IN_FRONT = 2_000;
/** Between the numbers of two places that follow each other. */
const TICK = 0.001;

/**
 * A waiter's entry into a line and its heartbeat there. Needs `time`, `now`, `permits_of`, and ARGV[1]: the life of the first waiter.
 */
const STAND = `
-- Known dead waiters do not count, wherever they are: a living waiter behind them has a faster heartbeat than it needs.
local function living_in_front(line, in_front)
  if in_front < ${ROW} then return in_front end
  local lapsed = redis.call('zcount', KEYS[line], ${NUMBERS}, string.format('(%.0f', now))
  local sharers = redis.call('zcount', KEYS[line], ${SHARED_DEADLINE}, string.format('(%.0f', ${SHARED_DEADLINE} + now))
  return math.max(0, in_front - lapsed - sharers)
end
-- In each line, the number of the last place that this call has added, and the last place that it found there: those of a call
-- are in order.
local newest, found = {}, {}
-- The number of a new place among \`count\`, by its age, and that of the last one.
local function number_by(name, count, age)
  local last = count > 0 and tonumber(redis.call('zrange', name, count - 1, count - 1, 'WITHSCORES')[2])
  local asked = time[1] * 1000 + time[2] / 1000 - ${EPOCH} - (age or 0)
  if not last then return math.max(1, asked) end
  if asked <= last and (not age or asked < last - ${MOST_IN_FRONT}) then return last + ${TICK}, last end
  return asked, last
end
-- The number of a new place, and how many are in front of it. It is behind the place \`behind\`.
local function place_of(name, count, age, behind)
  local number, last = number_by(name, count, age)
  local least = newest[name] or 0
  if behind == '' then behind = found[name] end
  if behind then least = math.max(least, redis.call('zscore', name, behind) or 0) end
  if number <= least then number = least + ${TICK} end
  newest[name] = number
  if not last or number > last then return number, count end
  return number, redis.call('zcount', name, '-inf', number)
end
-- The number of living waiters in front, and whether this is the first of a new line.
local function stand(line, value, claim, age, row, behind)
  local name = KEYS[line]
  local entry = claim .. ' ' .. value
  local in_front = redis.call('zrank', name, entry)
  local is_new, count, number = not in_front, nil, nil
  if is_new then
    count = redis.call('zcard', name) / 2
    number, in_front = place_of(name, count, age, behind)
  else
    found[name] = entry
  end
  local living = living_in_front(line, in_front)
  local more = math.min(math.floor(living / row), ${SLOWEST - 1})
  local life = math.floor(ARGV[1] + more * ${BEAT})
  local lapses = now + life
  if permits_of(value) then lapses = lapses + ${SHARED_DEADLINE} end
  if is_new then
    redis.call('zadd', name, number, entry, lapses, '@' .. entry)
  else
    redis.call('zadd', name, lapses, '@' .. entry)
  end
  if redis.call('pttl', name) < life then redis.call('pexpire', name, life) end
  return living, is_new and count == 0
end`;

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
