/*
 * A lock is the plain string key of the canonical single-instance algorithm (SET key value NX PX, compare-and-delete), so
 * holders written in any language exclude each other. Beside it lives a counter, "<last fencing token> <value>", and " r"
 * behind that once the value was released. It outlives the lock by a day. It never goes back while clocks are sane, even
 * when it was lost: it is at least the server's clock in microseconds. Where somebody waits there is a queue, a list of
 * "<deadline> <claim> <value>" in the order of arrival.
 *
 * A value is "<id>.<token>:<holder>". The id names the store that waits or holds, and the channel on which it is woken.
 * It begins with ~ on a Cluster, where PUBLISH does not tell whether anybody listens.
 * Numbers are written with `%.0f`, because Lua writes large ones with 14 digits only.
 */

/** Seconds that a counter outlives the last grant of its key. The clock floor makes its loss harmless. */
const COUNTER_SECONDS = 86_400;

/** Fencing tokens that a grant reserves, where its holder may pass it on: as many holders may follow without a command. */
export const FENCING_BLOCK = 64;

/** On the channel of a store: `<fencing token> <1 if others wait> <value>` to a waiter, `! <lock>` to a holder. */
export const CHANNEL = 'holdfast:';

export const MINT = `
-- Raises the counters KEYS[first..last] to one number, that of the last of \`block\` tokens for \`value\`. Returns the first,
-- and whether all that had the counters before released their lock.
local function mint(first, last, value, block, floor)
  local time = redis.call('time')
  local fence = time[1] * 1000000 + time[2]
  if floor then fence = math.max(fence, tonumber(floor)) end
  local highest = 0
  local was_released = true
  local counter = string.format('%.0f ', fence + block - 1) .. value
  for i = first, last do
    local before = redis.call('set', KEYS[i], counter, 'EX', ${COUNTER_SECONDS}, 'GET')
    if before then highest = math.max(highest, tonumber(string.match(before, '^%d+'))) end
    if not before or string.sub(before, -2) ~= ' r' then was_released = false end
  end
  if highest < fence then return fence, was_released end
  counter = string.format('%.0f ', highest + block) .. value
  for i = first, last do redis.call('set', KEYS[i], counter, 'EX', ${COUNTER_SECONDS}) end
  return highest + 1, was_released
end`;

export const HAND_OVER = `${MINT}
local function tell(value, message)
  local id = string.match(value, '^([^.]*)%.')
  if not id then return false end
  local receivers = redis.call('publish', '${CHANNEL}' .. id, message)
  return receivers > 0 or string.sub(id, 1, 1) == '~'
end
-- Gives the lock to the first waiter that is alive, as a claim, and wakes its process. Frees it when there is none.
local function hand_over(lock, counter, queue)
  local entry = redis.call('lpop', KEYS[queue])
  while entry do
    local time = redis.call('time')
    local deadline, claim, value = string.match(entry, '^(%d+) (%d+) (.*)$')
    if tonumber(deadline) >= time[1] * 1000 + time[2] / 1000 then
      redis.call('set', KEYS[lock], value, 'PX', claim)
      local fence = mint(counter, counter, value, ${FENCING_BLOCK})
      local more = redis.call('exists', KEYS[queue])
      if tell(value, string.format('%.0f %d ', fence, more) .. value) then return end
    end
    entry = redis.call('lpop', KEYS[queue])
  end
  redis.call('del', KEYS[lock])
end`;
