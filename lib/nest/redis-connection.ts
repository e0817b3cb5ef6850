import { Logger } from '@nestjs/common';
import type { Redis, RedisOptions } from 'ioredis';
import { sleep, systemClock } from '../core/clock.js';
import type { RedisClient } from '../stores/redis/redis-client.js';

/**
 * Where Redis is: a URL, options of ioredis, a client of yours (it stays open), or a function that makes one (it is closed
 * with the module).
 */
export type RedisSource =
  string | RedisOptions | RedisClient | (() => RedisClient | Promise<RedisClient>);

/** A client, and how to close it where the module opened it. */
export interface RedisConnection {
  readonly client: RedisClient;
  close(): Promise<void>;
}

/** Milliseconds for a client to say goodbye. */
const QUIT_TIMEOUT = 1_000;

export async function connectRedis(source: RedisSource): Promise<RedisConnection> {
  if (isClient(source)) return { client: source, close: async () => undefined };
  const client = typeof source === 'function' ? await source() : await openClient(source);
  if (!isClient(client)) {
    throw new TypeError(
      `redis must be a URL, ioredis options, an ioredis client or a function that returns one`,
    );
  }
  return { client, close: () => closeClient(client as RedisClient & Partial<Redis>) };
}

async function openClient(source: string | RedisOptions): Promise<Redis> {
  const { Redis } = await loadIoredis();
  const client = typeof source === 'string' ? new Redis(source) : new Redis(source);
  const logger = new Logger('DistributedLockModule');
  let reported: string | undefined;
  client.on('error', (error: Error) => {
    if (error.message !== reported) logger.error(`Redis: ${error.message}`);
    reported = error.message;
  });
  client.on('ready', () => (reported = undefined));
  return client;
}

async function loadIoredis(): Promise<typeof import('ioredis')> {
  try {
    return await import('ioredis');
  } catch (cause) {
    throw new Error('forRoot({ redis }) needs the package ioredis: npm install ioredis', { cause });
  }
}

async function closeClient(client: RedisClient & Partial<Redis>): Promise<void> {
  const answered = new AbortController();
  const goodbye = Promise.resolve(client.quit?.())
    .catch(() => undefined) // it is gone already
    .finally(() => answered.abort());
  await Promise.race([goodbye, sleep(systemClock, QUIT_TIMEOUT, answered.signal)]);
  client.disconnect?.();
}

function isClient(source: unknown): source is RedisClient {
  return typeof (source as Partial<RedisClient> | null)?.evalsha === 'function';
}
