/**
 * Validity of a grant: `ttl` minus 1 % for clocks that run at slightly different rates, minus 2 ms for the store's own
 * granularity, counted from BEFORE the request was sent. The formula is that of the Redlock specification
 * (https://redis.io/docs/latest/develop/use/patterns/distributed-locks/).
 */
export function validUntil(sentAt: number, ttl: number): number {
  return sentAt + ttl - (ttl * 0.01 + 2);
}
