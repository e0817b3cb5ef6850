import { makeRoom } from '../../../core/async/emitter-room.js';
import type { ServerLink, ServerVitals } from '../../../core/contract/server-link.js';
import type { RedisClient } from '../../../redis-client/redis-client.js';
import { asNumber, asText, asTime, unknownReply } from '../lua/replies.js';

/** A client of one server, master or Sentinel, whose connection can be watched. */
export interface WatchableClient extends RedisClient {
  info(section: string): Promise<string>;
  time(): Promise<readonly (number | string)[]>;
  on(event: string, listener: () => void): unknown;
  off(event: string, listener: () => void): unknown;
  readonly status: string;
}

export function canWatch(client: RedisClient): client is WatchableClient {
  const { info, time, on, off, isCluster } = client as Partial<WatchableClient>;
  return !isCluster && [info, time, on, off].every((method) => typeof method === 'function');
}

/** The connection of a client: its loss, its renewal, and its server's statement about itself. */
export class RedisServerLink implements ServerLink {
  readonly #client: WatchableClient;
  readonly #listeners: (readonly [event: string, listener: () => void])[] = [];
  losses = 0;
  /** Of the server, as last read. */
  runId: string | undefined;

  constructor(client: WatchableClient) {
    this.#client = client;
    this.#count();
  }

  get address(): string {
    return addressOf(this.#client);
  }

  /** A client that has not connected yet does so at its first command. */
  get isReady(): boolean {
    return this.#client.status === 'ready' || this.#client.status === 'wait';
  }

  onReady(listener: () => void): void {
    this.#count();
    this.#on('ready', listener);
    if (this.#client.status === 'ready') listener();
  }

  onLost(listener: () => void): void {
    this.#count();
    this.#on('close', listener);
  }

  async vitals(): Promise<ServerVitals> {
    const [info, time] = await Promise.all([this.#client.info('server'), this.#client.time()]);
    this.runId = field(info, 'run_id');
    return {
      runId: this.runId,
      upFor: Math.max(0, asNumber(field(info, 'uptime_in_seconds')) - 1) * 1_000, // the difference of two whole seconds
      time: asTime(time),
    };
  }

  /** Removes our listeners. The client stays its owner's. */
  close(): void {
    makeRoom(this.#client, -this.#listeners.length);
    for (const [event, listener] of this.#listeners.splice(0)) this.#client.off(event, listener);
  }

  /** Again after `close`: a store may be used by a next service. */
  #count(): void {
    if (this.#listeners.length === 0) this.#on('close', () => void this.losses++);
  }

  #on(event: string, listener: () => void): void {
    this.#listeners.push([event, listener]);
    makeRoom(this.#client, 1);
    this.#client.on(event, listener);
  }
}

/** For messages. */
export function addressOf({ options }: RedisClient): string {
  const { sentinels, name, path, host = 'localhost', port = 6_379 } = options ?? {};
  if (sentinels) return `the master of ${name}`;
  return path ?? `${host}:${port}`;
}

function field(info: unknown, name: string): string {
  const found = new RegExp(`^${name}:(.+?)\\r?$`, 'm').exec(asText(info));
  if (found) return found[1]!;
  throw unknownReply(`INFO server with ${name}`, info);
}
