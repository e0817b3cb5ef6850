import { LINE } from './line-parts.js';

/*
 * A lock is the plain string key of the canonical single-instance algorithm (SET key value NX PX, compare-and-delete), so
 * holders written in any language exclude each other. While it has waiters there is a line beside it: see line-parts.ts. For a
 * shared lock see sharing-parts.ts.
 *
 * The last fencing token is in a counter: one for each lock, or on one server one that several locks share (fencing-marks.ts).
 * Text that an earlier version wrote behind the number is ignored. A token never goes back while clocks are sane, even when its
 * counter was lost: it is at least the server's clock in microseconds.
 *
 * A value is "<id>.<token>:<holder>", of a sharer "<id>*<permits>.<token>:<holder>". The id names the store that waits or holds,
 * and its wake-up channel. It begins with ~ on a Cluster, where PUBLISH does not tell whether the channel has a subscriber.
 *
 * Numbers are written with `%.0f`, because Lua writes large ones with 14 digits only.
 */

/**
 * Seconds that a counter outlives the last grant. It expires by the same clock as its tokens, so a clock that goes back does not
 * end it. A counter ahead of the clock, by tokens from elsewhere, may be lost then.
 */
export const COUNTER_SECONDS = 3_600;

/** Fencing tokens that a grant reserves, where its holder may hand it off: that many holders may follow without a command. */
export const FENCING_BLOCK = 64;

/** On the channel of a store: the value of a waiter that has been given its key, or `! <lock>` to its holder when others wait. */
export const CHANNEL = 'holdfast:';

export const MINT = `
local clock
local function micros()
  local time = clock or redis.call('time')
  clock = time
  return time[1] * 1000000 + time[2]
end
-- Raises the counters KEYS[first..last] to one number, that of the last of \`block\` tokens. Returns the first.
local function mint(first, last, block, floor)
  local fence = tonumber(floor) or micros()
  local highest = 0
  local counter = string.format('%.0f', fence + block - 1)
  for i = first, last do
    local before = redis.call('set', KEYS[i], counter, 'EX', '${COUNTER_SECONDS}', 'GET')
    if before then highest = math.max(highest, tonumber(string.match(before, '^%d+'))) end
  end
  if highest < fence then return fence end
  counter = string.format('%.0f', highest + block)
  for i = first, last do redis.call('set', KEYS[i], counter, 'EX', '${COUNTER_SECONDS}') end
  return highest + 1
end`;

export const RAISE_COUNTER = `
-- Raises a counter that is at most \`from\` to \`to\`. A lost counter is recreated.
local function may_raise(counter, from)
  local number = string.match(redis.call('get', KEYS[counter]) or '', '^%d+')
  return not number or tonumber(number) <= tonumber(from)
end
local function raise(counter, to)
  redis.call('set', KEYS[counter], to, 'EX', '${COUNTER_SECONDS}')
end`;

/** The parts of a hand-over. */
export const TELL = `
local function tell(value, message)
  local id = string.match(value, '^([^.*]*)[.*]')
  if not id then return false end
  local receivers = redis.call('publish', '${CHANNEL}' .. id, message)
  return receivers > 0 or string.sub(id, 1, 1) == '~'
end`;

export const HAND_OVER = `${TELL}${LINE}
-- The id of an exclusive value.
local function id_of(value)
  return string.match(value, '^([^.*]*)%.')
end
-- Gives the lock to the first living waiter, as a claim, and wakes its process. Frees it without one. A sharer gets it like any
-- other waiter, and admits other sharers when it makes a lock of the claim. In strict order, the releasing store
-- is \`own\`: with a \`next_ttl\`, an exclusive waiter of it is returned instead, and has nothing yet.
local function hand_over(lock, line, own, next_ttl)
  local first = first_in_line(line)
  while first do
    local time = redis.call('time')
    local now = time[1] * 1000 + time[2] / 1000
    take_first(line, first, now)
    local is_living = is_alive(line, first, now)
    if is_living and own and next_ttl > 0 and id_of(first.value) == own then return first.value end
    if is_living and tell(first.value, first.value) then
      if own then mark_claim(line, first, now) end
      redis.call('set', KEYS[lock], first.value, 'PX', first.claim)
      return
    end
    first = first_in_line(line)
  end
  redis.call('del', KEYS[lock])
end`;

/** For scripts that answer for several locks. */
export const ATTEMPT = `
-- The result of \`deed\` for one lock of a call, or the text of its error. On a server that takes no writes at all, the error of
-- the command: a client configured for it then connects to the new master.
local function attempt(deed, ...)
  local is_done, answer = pcall(deed, ...)
  if is_done then return answer end
  local text = type(answer) == 'table' and answer.err or tostring(answer)
  local readonly = string.match(text, 'READONLY.*')
  return text, readonly and redis.error_reply(readonly)
end`;
