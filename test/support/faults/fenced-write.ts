import type { Redis } from 'ioredis';

/** KEYS: the value, the fence. ARGV: value, fencing token. Returns 1, or 0 when a larger token was seen before. */
const WRITE = `
local fence = redis.call('get', KEYS[2])
if fence and tonumber(fence) > tonumber(ARGV[2]) then return 0 end
redis.call('set', KEYS[2], ARGV[2])
redis.call('set', KEYS[1], ARGV[1])
return 1`;

/** A resource that refuses stale holders of `order:42`. */
export async function writeFenced(redis: Redis, value: string, token: bigint): Promise<boolean> {
  return (await redis.eval(WRITE, 2, 'order', 'order:fence', value, String(token))) === 1;
}
