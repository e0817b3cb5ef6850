import { TAKE_AND_FREE, batchArgs } from '../../../../lib/stores/redis/lua/lock-script.js';
import { WAIT } from '../../../../lib/stores/redis/lua/queue-scripts.js';
import { EXTEND_SHARED } from '../../../../lib/stores/redis/lua/sharing-scripts.js';
import type { RedisScript } from '../../../../lib/redis-client/redis-script.js';
import { RedisServer } from '../../../support/servers/redis-server.js';
import { OwnClient } from '../locks.js';

const [A, B] = ['lock:a', 'lock:b'];
const VALUE = 's*2.1:host:1:2';
const TTL = 60_000;
/** A key of another type. */
const WRONG = expect.stringMatching(/^WRONGTYPE/);

const counterOf = (lock: string) => `{${lock}}:fence`;
const lineOf = (lock: string) => `{${lock}}:line`;
const sharersOf = (lock: string) => `{${lock}}:shared`;

/** Each script, for some locks. */
const SCRIPTS: readonly (readonly [string, (...locks: string[]) => Call])[] = [
  [
    'taken',
    (...locks) => ({
      script: TAKE_AND_FREE,
      keys: locks.flatMap((lock) => [lock, counterOf(lock), lineOf(lock)]),
      args: locks.flatMap(() => batchArgs('s.1:host:1:2', 1, { ttl: TTL })),
    }),
  ],
  [
    'waited for',
    (...locks) => ({
      script: WAIT,
      keys: locks.flatMap((lock) => [lock, lineOf(lock), sharersOf(lock)]),
      args: [TTL, ...locks.flatMap(() => ['s.1:host:1:2', '1000'])],
    }),
  ],
  [
    'extended by a sharer',
    (...locks) => ({
      script: EXTEND_SHARED,
      keys: locks.flatMap((lock) => [lock, sharersOf(lock)]),
      args: [TTL, ...locks.flatMap(() => [1, VALUE])],
    }),
  ],
];

interface Call {
  readonly script: RedisScript;
  readonly keys: readonly string[];
  readonly args: readonly (string | number)[];
}

describe.each(SCRIPTS)('Where several locks on Redis are %s at once,', (_, callOf) => {
  let server: RedisServer;
  let client: OwnClient;

  beforeAll(async () => {
    server = await RedisServer.start();
    client = new OwnClient(server.url);
  });

  beforeEach(async () => {
    await client.redis.flushall();
    await client.redis.rpush(A, 'no lock');
  });

  afterAll(async () => {
    await client[Symbol.asyncDispose]();
    await server.stop();
  });

  async function answers(...locks: string[]): Promise<unknown> {
    const { script, keys, args } = callOf(...locks);
    return script.run(client.redis, keys, args, (reply) => reply);
  }

  it('the error of one is its own answer, and no error of the others', async () => {
    const [first, second] = (await answers(A, B)) as unknown[];
    expect(first).toEqual(WRONG);
    expect(second).not.toEqual(WRONG);
  });

  it('a server that takes no writes refuses them by an error of the command', async () => {
    await client.redis.flushall();
    await client.redis.set(B, '*2', 'PX', TTL);
    await client.redis.zadd(sharersOf(B), 9e12, VALUE);
    await client.redis.replicaof('127.0.0.1', 1);
    try {
      await expect(answers(B, A)).rejects.toThrow(/^READONLY/);
    } finally {
      await client.redis.replicaof('NO', 'ONE');
    }
  });
});

it('Where each lock of a call fails on Redis, the call fails by the error of the first', async () => {
  const server = await RedisServer.shared();
  await using client = new OwnClient(server.url);
  await client.redis.rpush(A, 'no lock');
  await client.redis.rpush(B, 'no lock');
  const [, take] = SCRIPTS[0]!;
  for (const locks of [[A], [A, B]]) {
    const { script, keys, args } = take(...locks);
    await expect(script.run(client.redis, keys, args, () => {})).rejects.toThrow(/^WRONGTYPE/);
  }
  await client.redis.flushall();
  await server.stop();
});
