import { createHash, randomUUID } from 'node:crypto';

const RELEASE = `if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0`;
const RELEASE_SHA = createHash('sha1').update(RELEASE).digest('hex');

/** The two commands that no lock on Redis can do without: `SET NX PX` and a compare-and-delete by `EVALSHA`. */
export async function rawCycle(client) {
  await client.script('LOAD', RELEASE);
  return async (index) => {
    const token = randomUUID();
    await client.set(`lock:${index}`, token, 'PX', 30_000, 'NX');
    await client.evalsha(RELEASE_SHA, 1, `lock:${index}`, token);
  };
}

const TAKE = `local call = redis.call
if not call('set', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return false end
local time = call('time')
local fence = time[1] * 1000000 + time[2]
local before = call('set', KEYS[2], fence, 'GET')
if before and tonumber(before) >= fence then
  fence = before + 1
  call('set', KEYS[2], fence)
end
return fence`;
const TAKE_SHA = createHash('sha1').update(TAKE).digest('hex');

/** As `rawCycle`, with a fencing token that is never smaller than one before, also after a failover: the least that this takes. */
export async function fencedCycle(client) {
  for (const script of [TAKE, RELEASE]) await client.script('LOAD', script);
  return async (index) => {
    const [lock, token] = [`fenced:${index}`, randomUUID()];
    await client.evalsha(TAKE_SHA, 2, lock, 'fenced:mark', token, 30_000);
    await client.evalsha(RELEASE_SHA, 1, lock, token);
  };
}

/** A lease of a store, without anything that core does. */
export function storeCycle(store) {
  return async (index) => {
    const key = `s:${index}`;
    const request = { key, keys: [key], token: randomUUID(), ttl: 30_000, holder: 'bench:1:2' };
    await (await store.tryAcquire(request)).release();
  };
}
