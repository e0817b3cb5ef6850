import { LINE } from './line-parts.js';

/*
 * A lock is the plain string key of the canonical single-instance algorithm (SET key value NX PX, compare-and-delete), so
 * holders written in any language exclude each other. While it has waiters there is a line beside it: see line-parts.ts. For a
 * shared lock see sharing-parts.ts.
 *
 * A value is "<id>.<token>:<holder>", of a sharer "<id>*<permits>.<token>:<holder>". The id names the store that waits or holds,
 * and its wake-up channel. It begins with ~ on a Cluster, where PUBLISH does not tell whether the channel has a subscriber.
 */

/** On the channel of a store: the value of a waiter that has been given its key, or `! <lock>` to its holder when others wait. */
export const CHANNEL = 'holdfast:';

/** The parts of a hand-off. */
export const TELL = `
local function tell(value, message)
  local id = string.match(value, '^([^.*]*)[.*]')
  if not id then return false end
  local receivers = redis.call('publish', '${CHANNEL}' .. id, message)
  return receivers > 0 or string.sub(id, 1, 1) == '~'
end`;

export const HAND_OFF = `${TELL}${LINE}
-- The id of an exclusive value.
local function id_of(value)
  return string.match(value, '^([^.*]*)%.')
end
-- Gives the lock to the first living waiter, as a claim, and wakes its process. Frees it without one. A sharer gets it like any
-- other waiter, and admits other sharers when it makes a lock of the claim. In strict order, the releasing store
-- is \`own\`: with a \`next_ttl\`, an exclusive waiter of it is returned instead, and has nothing yet.
local function hand_off(lock, line, own, next_ttl)
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
