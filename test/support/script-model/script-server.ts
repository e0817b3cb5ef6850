import type { Redis } from 'ioredis';
import { type InLine, asLine, lineKey } from '../redis-line.js';
import { RedisServer } from '../servers/redis-server.js';
import { until } from '../until.js';
import { OwnClient } from '../../stores/redis/locks.js';
import { LOCK_SCRIPTS } from './lock-scripts.js';
import { KEYS, ODD_KEY } from './script-model.js';
import { STORES } from './script-steps.js';

const SYNC = 'synchronous';

export interface Message {
  readonly store: string;
  readonly text: string;
}

/** A lock, its counter and its queue as they are on the server. */
export interface Seen {
  readonly key: string;
  readonly holder: string | null;
  readonly ttl: number;
  readonly entries: readonly InLine[];
  readonly queueTtl: number;
  readonly counter: string | null;
  readonly counterTtl: number;
}

export function keysOf(
  lock: string,
): [lock: string, counter: string, queue: string, sharers: string] {
  return [lock, `{${lock}}:fence`, lineKey(lock), `{${lock}}:shared`];
}

/** A server, a client, and the ears of the stores that live. */
export class ScriptServer implements AsyncDisposable {
  readonly redis: Redis;
  lockScripts = LOCK_SCRIPTS[0]![1];
  readonly #server: RedisServer;
  readonly #client: OwnClient;
  readonly #ears: OwnClient;
  #heard: Message[] = [];
  #syncs = 0;
  #heardSyncs = 0;
  #onSync = (): void => {};

  static async start(): Promise<ScriptServer> {
    const own = new ScriptServer(await RedisServer.start());
    await own.#ears.redis.subscribe(SYNC, ...STORES.map((store) => `holdfast:${store}`));
    return own;
  }

  private constructor(server: RedisServer) {
    this.#server = server;
    this.#client = new OwnClient(server.url);
    this.#ears = new OwnClient(server.url);
    this.redis = this.#client.redis;
    this.#ears.redis.on('message', (channel, text) => this.#hear(channel, text));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client[Symbol.asyncDispose]();
    await this.#ears[Symbol.asyncDispose]();
    await this.#server.stop();
  }

  /** Of everything that a step before has left. */
  async clear(): Promise<void> {
    await this.messages();
    await this.redis.flushall();
    await this.redis.rpush(ODD_KEY, 'not a string');
  }

  /** All messages since the last call. */
  async messages(): Promise<Message[]> {
    const sync = ++this.#syncs;
    const heard = new Promise<void>((resolve) => {
      this.#onSync = () => this.#heardSyncs === sync && resolve();
    });
    await this.redis.publish(SYNC, String(sync));
    await heard;
    return this.#heard.splice(0);
  }

  async look(): Promise<Seen[]> {
    const pipeline = this.redis.pipeline();
    for (const lock of KEYS) {
      const [, counter, queue] = keysOf(lock);
      pipeline
        .get(lock)
        .pttl(lock)
        .zrange(queue, '0', '-1', 'WITHSCORES')
        .pttl(queue)
        .get(counter)
        .pttl(counter);
    }
    const replies = (await pipeline.exec())!.map(([error, reply]) => {
      if (error) throw error;
      return reply;
    });
    return KEYS.map((key, index) => {
      const [holder, ttl, entries, queueTtl, counter, counterTtl] = replies.slice(6 * index);
      const line = asLine(entries);
      return { key, holder, ttl, entries: line, queueTtl, counter, counterTtl } as Seen;
    });
  }

  /** Resolves once the clock of the server has passed `microseconds`. */
  async timeAfter(microseconds: number): Promise<void> {
    await until(async () => {
      const [seconds, rest] = await this.redis.time();
      return Number(seconds) * 1e6 + Number(rest) > microseconds;
    });
  }

  #hear(channel: string, text: string): void {
    if (channel === SYNC) {
      this.#heardSyncs = Number(text);
      this.#onSync();
    } else this.#heard.push({ store: channel.slice('holdfast:'.length), text });
  }
}
