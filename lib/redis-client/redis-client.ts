/**
 * What the store needs of a client. A client of ioredis (5 or 6, `Redis` or `Cluster`) is one. Structural, so that neither the
 * version nor the copy of ioredis matters. `clients/` has the rest of what differs between clients.
 */
export interface RedisClient {
  evalsha(sha1: string, keyCount: number, ...keysAndArgs: (string | number)[]): Promise<unknown>;
  eval(script: string, keyCount: number, ...keysAndArgs: (string | number)[]): Promise<unknown>;
  wait(replicas: number, timeout: number): Promise<number>;
  /** The present connection: another object after a reconnect. */
  readonly stream?: unknown;
  readonly status?: string;
  readonly isCluster?: boolean | undefined;
  readonly options?: RedisClientOptions | undefined;
}

interface RedisClientOptions {
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  readonly path?: string | undefined;
  /** With them, `name` is that of the master. */
  readonly sentinels?: readonly unknown[] | undefined;
  readonly name?: string | undefined;
  readonly keyPrefix?: string | undefined;
  readonly redisOptions?: { readonly keyPrefix?: string | undefined } | undefined;
  /** ioredis 6. With 3, a subscribed connection stays usable for other commands. */
  readonly protocol?: number | undefined;
  /** Whether ioredis subscribes again by itself after a reconnect. No caller can catch the server's refusal of that. */
  readonly autoResubscribe?: boolean | undefined;
  /** Without one, a connection that is lost does not come back. */
  readonly retryStrategy?: unknown;
}

/** The part of a connection that wake-ups need. */
export interface SubscriberClient {
  subscribe(channel: string): Promise<unknown>;
  unsubscribe(channel: string): Promise<unknown>;
  on(event: string, listener: (...args: never[]) => void): unknown;
  off(event: string, listener: (...args: never[]) => void): unknown;
}

/** A client that receives the store's wake-ups, itself or on a copy. */
export interface SubscribableClient extends RedisClient, SubscriberClient {
  duplicate(override?: object): SubscriberClient & { disconnect(): void };
}

export function isRedisClient(value: unknown): value is RedisClient {
  return typeof (value as Partial<RedisClient> | null | undefined)?.evalsha === 'function';
}

/** The prefix that ioredis puts in front of every key. */
export function clientKeyPrefix({ options }: Pick<RedisClient, 'options'>): string {
  return options?.keyPrefix ?? options?.redisOptions?.keyPrefix ?? '';
}

export function canSubscribe(client: RedisClient): client is SubscribableClient {
  const { subscribe, duplicate } = client as Partial<SubscribableClient>;
  return typeof subscribe === 'function' && typeof duplicate === 'function';
}
