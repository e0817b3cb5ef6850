import { errorMonitor } from 'node:events';
import { makeRoom } from '../core/async/emitter-room.js';
import { driverError } from './driver-error.js';
import type { RedisClient } from './redis-client.js';

/** The part of an ioredis client, `Redis` or `Cluster`, that tells of its connection. */
interface TellingClient extends RedisClient {
  on(event: string | symbol, listener: (error?: unknown) => void): unknown;
  off(event: string | symbol, listener: (error?: unknown) => void): unknown;
  nodes?(role: 'all'): readonly RedisClient[];
}

/** Why a client has no connection: the last error of a client that tries again and again, and tells only its listeners. */
export class ConnectionFailure {
  readonly #client: RedisClient;
  #told: unknown;
  #forget: (() => void) | undefined;

  constructor(client: RedisClient) {
    this.#client = client;
    this.listen();
  }

  /** Until `close`. Safe to call twice. */
  listen(): void {
    if (canTell(this.#client)) this.#forget ??= this.#listenTo(this.#client);
  }

  /** `undefined` while the client is connected, or connects for the first time. `silent`: that of a node of a Cluster counts, too. */
  readonly reason = (silent: boolean): unknown => {
    const { status } = this.#client;
    if (status === undefined || status === 'ready' || status === 'wait')
      return silent ? this.#reasonOfNode() : undefined;
    const error = errorOf(this.#client) ?? this.#told;
    if (error !== undefined && error !== null) return driverError(error);
    return silent ? this.#reasonOfNode() : undefined;
  };

  /** Of a Cluster that is connected to other nodes. */
  #reasonOfNode(): unknown {
    const { nodes } = this.#client as Partial<TellingClient>;
    if (typeof nodes !== 'function') return undefined;
    const away = nodes.call(this.#client, 'all').filter(({ status }) => status !== 'ready');
    const error = away.map(errorOf).find((each) => each !== undefined && each !== null);
    return error === undefined ? undefined : driverError(error);
  }

  /** Removes our listeners. The client stays its owner's. */
  close(): void {
    this.#forget?.();
    this.#forget = undefined;
  }

  /** The monitor is no listener of errors: ioredis goes on to print those that have none. */
  #listenTo(client: TellingClient): () => void {
    const failed = (error: unknown) => void (this.#told = error);
    const connected = () => void (this.#told = undefined);
    makeRoom(client, 1);
    client.on(errorMonitor, failed);
    client.on('ready', connected);
    return () => {
      client.off(errorMonitor, failed);
      client.off('ready', connected);
      makeRoom(client, -1);
    };
  }
}

function canTell(client: RedisClient): client is TellingClient {
  const { on, off } = client as Partial<TellingClient>;
  return typeof on === 'function' && typeof off === 'function';
}

/** Node keeps what a socket was destroyed with, also where the client has no listener of errors. */
function errorOf({ stream }: RedisClient): unknown {
  return (stream as { readonly errored?: unknown } | null | undefined)?.errored;
}
