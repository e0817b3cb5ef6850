/**
 * The part of an ioredis client (5 or 6, `Redis` or `Cluster`) that the store uses. Structural, so that neither the version
 * nor the copy of ioredis matters.
 */
export interface RedisClient {
  evalsha(sha1: string, keyCount: number, ...keysAndArgs: (string | number)[]): Promise<unknown>;
  eval(script: string, keyCount: number, ...keysAndArgs: (string | number)[]): Promise<unknown>;
  wait(replicas: number, timeout: number): Promise<number>;
  /** The connection of the moment: another object after a reconnect. */
  readonly stream?: unknown;
  readonly isCluster?: boolean | undefined;
  readonly options?: RedisClientOptions | undefined;
}

interface RedisClientOptions {
  readonly keyPrefix?: string | undefined;
  readonly redisOptions?: { readonly keyPrefix?: string | undefined } | undefined;
}

/** What ioredis puts in front of every key. */
export function clientKeyPrefix({ options }: RedisClient): string {
  return options?.keyPrefix ?? options?.redisOptions?.keyPrefix ?? '';
}
