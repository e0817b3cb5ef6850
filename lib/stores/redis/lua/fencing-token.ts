/*
 * The last fencing token is in a counter: one for each lock, or on one server one that several locks share (server-keys.ts).
 * Text that an earlier version wrote behind the number is ignored. A token never goes back while clocks are sane, even when its
 * counter was lost: it is at least the server's clock in microseconds.
 *
 * A lock that is free and has no waiter is granted, and its token minted, by FAST_TAKE (lock-script.ts).
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

/** The server's clock in microseconds: one moment for all that a call asks. */
export const CLOCK = `
local clock
local function micros()
  local time = clock or redis.call('time')
  clock = time
  return time[1] * 1000000 + time[2]
end`;

/** Needs `CLOCK`. */
export const MINT = `
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
