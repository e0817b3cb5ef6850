import type { Redis } from 'ioredis';
import type { RedisScript } from '../../../lib/redis-client/redis-script.js';
import type { Ask } from '../../support/redis-line.js';
import { RedisServer } from '../../support/servers/redis-server.js';
import { OwnClient } from './locks.js';

/** Runs scripts without a store. */
export interface ScriptClient {
  readonly redis: Redis;
  readonly ask: Ask;
  /** Resolves with the reply as it is. */
  run(
    script: RedisScript,
    keys: readonly string[],
    ...args: readonly (string | number)[]
  ): Promise<unknown>;
  /** The server's clock, in milliseconds since 1970. */
  now(): Promise<number>;
}

/** For the tests of the block: on the server of the Jest worker, which is empty before each. */
export function scriptClient(): ScriptClient {
  let server: RedisServer;
  let own: OwnClient;

  beforeAll(async () => {
    server = await RedisServer.shared();
    own = new OwnClient(server.url);
  });

  beforeEach(() => own.redis.flushall());

  afterAll(async () => {
    await own[Symbol.asyncDispose]();
    await server.stop();
  });

  return {
    get redis() {
      return own.redis;
    },
    ask: (...words) => server.command(...words),
    run: (script, keys, ...args) => script.run(own.redis, keys, args, (reply) => reply),
    async now() {
      const [seconds, micros] = await own.redis.time();
      return Number(seconds) * 1_000 + Number(micros) / 1_000;
    },
  };
}
