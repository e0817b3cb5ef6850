import type { NodeRedisClient } from './node-redis-client.js';

/** The part of a Sentinel client of node-redis (`createSentinel` of `redis` 5 or 6) that is used. */
export interface NodeRedisSentinel {
  readonly isOpen: boolean;
  readonly isReady: boolean;
  connect(): Promise<unknown>;
  /** Lends the client that is connected to the master. */
  readonly _execute: <T>(
    isReadonly: boolean,
    use: (master: NodeRedisClient) => Promise<T>,
  ) => Promise<T>;
  getSentinelNode(): unknown;
  on(event: string, listener: (event?: never) => void): unknown;
  off(event: string, listener: (event?: never) => void): unknown;
  destroy(): unknown;
}

/** The connections tell the meaning of an error. */
export function ignored(): void {}

/** `redis` 5 leaves a client open that did not connect. */
export function connect(guide: NodeRedisSentinel): Promise<unknown> {
  return guide.connect().catch(async (error: unknown) => {
    await guide.destroy();
    throw error;
  });
}

export function destroy(guide: NodeRedisSentinel): void {
  void Promise.resolve()
    .then(() => guide.destroy())
    .catch(ignored);
}

/** The client that it has connected to the master. */
export function masterOf(guide: NodeRedisSentinel): Promise<NodeRedisClient> {
  const { _execute: execute } = guide;
  return execute.call(
    guide,
    false,
    async (master: NodeRedisClient) => master,
  ) as Promise<NodeRedisClient>;
}
