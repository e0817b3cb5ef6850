import { BEAT, CALLED_UP, HEARTBEAT, ROW, SLOWEST, SOON } from './pace.js';

/*
 * The line of a lock is one sorted set, `{lock}:line`, with two members for each waiter: "<claim> <value>", whose score is its
 * number in the order of arrival, and the same with @ in front, whose score is its deadline, in milliseconds by the server's
 * clock. Numbers are smaller than deadlines, so that the rank of a waiter gives the number of waiters in front. Deadlines of
 * waiting sharers are larger than all others, so that the last member shows whether there are any. No operation on a line reads
 * it all: each step costs the logarithm of its length.
 *
 * One set, and not two, because every command about a lock would have to name the other one.
 */

/** Every number in the order of arrival is smaller, every deadline larger. */
export const NUMBERS = 1e12;
/**
 * The number of a place is the time at which its caller asked, by the server's clock, in milliseconds since this moment: callers
 * of several processes stand in the order in which they asked, whatever waited with them for the end of a turn of the event loop.
 */
const EPOCH = 1.7e12;
/** Milliseconds by which a new place may be in front of the last one. Beyond, the server's clock has gone back. */
const MOST_IN_FRONT = 2_000;
/** Between the numbers of two places that follow each other. */
const TICK = 0.001;
/** Added to the deadlines of waiting sharers. */
export const SHARED_DEADLINE = 1e13;

/**
 * On the channel of a store, in front of the value of a waiter: it has come to the front, and its heartbeat is too slow for
 * that.
 */
export const CALL_UP = '? ';

/**
 * A claim that is handed to a store with several places near the head of the line leaves a mark there: one more place of that
 * store, which lapses with the claim. It goes with the next sign of life of the store. A store whose mark has lapsed hangs, and all
 * its places are passed over: without the mark, each would cost a claim.
 */
export const MARKS = `
local function mark_of(value)
  local id = string.match(value, '^([^.*]*)[.*]')
  return id and '1 ' .. id .. '.!'
end
-- The store of \`value\` is alive.
local function answered(line, value)
  local mark = mark_of(value)
  if mark then redis.call('zrem', KEYS[line], mark, '@' .. mark) end
end`;

/** The moves of a line. Needs `tell`. */
export const LINE = `${MARKS}
-- Nil without a waiter.
local function first_in_line(line)
  local members = redis.call('zrange', KEYS[line], 0, ${CALLED_UP})
  local entry = members[1]
  if not entry then return nil end
  local claim, value = string.match(entry, '^(%d+) (.*)$')
  local lapses = redis.call('zscore', KEYS[line], '@' .. entry) % ${SHARED_DEADLINE}
  return { entry = entry, value = value, claim = claim, lapses = lapses, members = members }
end
local function is_in_line(entry)
  return entry and string.sub(entry, 1, 1) ~= '@'
end
-- A waiter that has come to the front would keep its slow heartbeat from further back, unless it is told.
local function call_up(line, entry, now)
  if not is_in_line(entry) then return end
  local lapses = redis.call('zscore', KEYS[line], '@' .. entry) % ${SHARED_DEADLINE}
  local value = string.match(entry, '^%d+ (.*)$')
  if lapses > now + ${SOON + HEARTBEAT - BEAT} then tell(value, '${CALL_UP}' .. value) end
end
local function leave_line(line, entry)
  redis.call('zrem', KEYS[line], entry, '@' .. entry)
end
local function take_first(line, first, now)
  leave_line(line, first.entry)
  call_up(line, first.members[${CALLED_UP + 1}], now)
end
local function is_alive(line, first, now)
  local mark = mark_of(first.value)
  if first.lapses < now or first.entry == mark then return false end
  local ends = mark and redis.call('zscore', KEYS[line], '@' .. mark)
  return not ends or tonumber(ends) >= now
end
-- For a claim of the first waiter.
local function mark_claim(line, first, now)
  local mark = mark_of(first.value)
  local store = string.sub(mark, 3, -2)
  for i = 2, #first.members do
    local entry = first.members[i]
    if is_in_line(entry) and string.find(entry, ' ' .. store, 1, true) then
      redis.call('zadd', KEYS[line], now - ${EPOCH}, mark, now + first.claim, '@' .. mark)
      return
    end
  end
end`;

/**
 * A waiter's entry into a line and its heartbeat there. Needs `time`, `now`, `permits_of`, and ARGV[1]: the life of the first waiter.
 */
export const STAND = `
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
