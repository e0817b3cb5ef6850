/** Needs `HAND_OFF` and `MINT`. */
export const RELEASE = `
-- 1, or 0 when a key had been lost. Hands each key to its first waiter. With \`next_ttl\`, in strict order, an exclusive waiter of
-- the same store gets the one key for so many milliseconds, and no message: its value and its fencing token are the answer. 0: none
-- of that store waits.
local function release(before, n, value, next_ttl)
  local released = 1
  local own = next_ttl ~= '' and id_of(value)
  for i = 1, n do
    local lock = before + i
    local line = before + 2 * n + i
    local next_own
    if redis.call('get', KEYS[lock]) == value then
      answered(line, value)
      next_own = hand_off(lock, line, own, tonumber(next_ttl))
    else
      released = 0
    end
    if next_own then
      redis.call('set', KEYS[lock], next_own, 'PX', next_ttl)
      return { next_own, mint(before + n + i, before + n + i, 1) }
    end
  end
  return released
end`;
