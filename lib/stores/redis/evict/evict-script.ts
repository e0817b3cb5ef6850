import { RedisScript } from '../../../redis-client/redis-script.js';
import { CLOCK, FENCING_BLOCK, MINT } from '../lua/fencing-token.js';
import { CHANNEL, TELL } from '../lua/hand-off.js';
import { LONGEST_CLAIM } from '../lua/pace.js';

/*
 * The server does not know the token of a holder, only a counter that is at least as large, and that other locks raise, too. So it
 * asks: a holder that hears of its eviction writes its token into its value, "<id>.<token>!<fencing token>:<holder>". One that has
 * the key from the named holder, in the same process and so with the same value, sends its token to the caller. Where no answer
 * comes, the holder is the named one if its counter is the named token, or if the caller saw it with a smaller counter.
 */

/** On the channel of a store: `- <token> <grace> <lock>`. Its leases of the lock with this token, or a smaller one, are revoked. */
export const REVOKED = '- ';
/** On the channel of a store: `@ <id> <token> <lock>`. A later holder of its process is to say so to the store with the id. */
export const ASKED = '@ ';
/** On the channel of a store that has asked: `= <token> <lock>`. The present holder has this token. */
export const LATER = '= ';

/**
 * KEYS: lock, counter, line.
 * ARGV: the named token; the value that is to have the lock, empty to ask its holder; its ttl, or the grace; the value that had the
 * lock when the counter was at most the named token, empty where that is unknown; the id of the store that asks.
 * Returns the state of `HolderAnswer`, the value of the holder, an upper bound of its token (both empty where unknown), and the
 * token of a lock that is taken. Idempotent per value.
 */
export const EVICT = new RedisScript(`${CLOCK}${MINT}${TELL}
local holder = redis.call('get', KEYS[1])
if not holder then return { 'other', '', '', '' } end
local own, named = ARGV[2], tonumber(ARGV[1])
local function take()
  redis.call('set', KEYS[1], own, 'PX', ARGV[3])
  return string.format('%.0f', mint(2, 2, ${FENCING_BLOCK}))
end
if holder == own then return { 'taken', '', '', take() } end
if string.find(holder, '^%*') or string.find(holder, '^~?[%w_-]+%*') then return { 'shared', holder, '', '' } end
if not string.find(holder, '^~?[%w_-]+%.[^:]*:') then return { 'other', '', '', '' } end
local bound = tonumber(string.match(redis.call('get', KEYS[2]) or '', '^%d+')) or micros()
local heard = tonumber(string.match(holder, '^[^:]*!(%d+):'))
local left = redis.call('pttl', KEYS[1])
-- What is left so shortly may be a claim, which has no token yet.
local may_be_claim = not heard and left >= 0 and left <= ${LONGEST_CLAIM}
local state = 'unconfirmed'
if named > bound or (heard and heard > named) then state = 'other'
elseif heard or (not may_be_claim and (named == bound or holder == ARGV[4])) then state = 'held' end
bound = may_be_claim and '' or string.format('%.0f', bound)
if own == '' then
  if state ~= 'other' then
    tell(holder, '${REVOKED}' .. ARGV[1] .. ' ' .. ARGV[3] .. ' ' .. KEYS[1])
    if ARGV[5] ~= '' then tell(holder, '${ASKED}' .. ARGV[5] .. ' ' .. ARGV[1] .. ' ' .. KEYS[1]) end
  end
elseif state == 'held' then
  tell(holder, '${REVOKED}' .. bound .. ' 0 ' .. KEYS[1])
  return { 'taken', holder, bound, take() }
end
return { state, holder, bound, '' }`);

/** KEYS: a lock, which leads to a server. ARGV: the id of a store, the message for it. */
export const ANSWER = new RedisScript(
  `redis.call('publish', '${CHANNEL}' .. ARGV[1], ARGV[2]) return 1`,
);

/**
 * The holder has been asked to stop. KEYS: the locks. ARGV: value, the value with its token, ttl. Returns 1, or 0 when a key is not
 * ours. Idempotent per value.
 */
export const RETIRE = new RedisScript(`
for _, lock in ipairs(KEYS) do
  local holder = redis.call('get', lock)
  if holder ~= ARGV[1] and holder ~= ARGV[2] then return 0 end
end
for _, lock in ipairs(KEYS) do redis.call('set', lock, ARGV[2], 'PX', ARGV[3]) end
return 1`);
