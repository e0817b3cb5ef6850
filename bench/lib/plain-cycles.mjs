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

/** A lease of a store, without anything that core does. */
export function storeCycle(store) {
  return async (index) => {
    const key = `s:${index}`;
    const request = { key, keys: [key], token: randomUUID(), ttl: 30_000, holder: 'bench:1:2' };
    await (await store.tryAcquire(request)).release();
  };
}
