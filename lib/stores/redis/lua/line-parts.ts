import { BEAT, CALLED_UP, HEARTBEAT, SOON } from './pace.js';

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
export const EPOCH = 1.7e12;
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
