import { RedisScript } from '../../redis-client/redis-script.js';

/**
 * KEYS: guard, data. ARGV: token, ms to keep it or 0, command, its arguments behind the key. Without a command, only the
 * token is left. Returns { 0, the larger token seen } or { 1, the command's reply }.
 *
 * Tokens are compared as text, for a number of Lua is exact up to 2^53 only.
 */
export const FENCED = new RedisScript(`
local token = ARGV[1]
local seen = redis.call('get', KEYS[1])
if seen then
  local digits = string.match(seen, '^0*(%d+)$')
  if not digits then return redis.error_reply('ERR ' .. KEYS[1] .. ' holds no fencing token') end
  seen = digits
  if #seen > #token or (#seen == #token and seen > token) then return { 0, seen } end
end
if ARGV[2] == '0' then
  redis.call('set', KEYS[1], token)
else
  redis.call('set', KEYS[1], token, 'px', ARGV[2])
end
if not ARGV[3] then return { 1 } end
return { 1, redis.call(ARGV[3], KEYS[2], unpack(ARGV, 4)) }`);
/** KEYS: guard. Returns how many were deleted. */
export const FORGET = new RedisScript(`return redis.call('del', KEYS[1])`);
