import * as fc from 'fast-check';
import { Cluster } from 'ioredis';
import { LockKeyError, LockService, RedisLockStore } from 'nest-holdfast';
import { type FencedHolder, LockStaleError, RedisFencingGate } from '../../lib/fencing/index.js';
import { guardKey } from '../../lib/fencing/gate/guard-keys.js';
import { OwnClient, disconnect } from '../stores/redis/locks.js';
import { RedisCluster } from '../support/servers/redis-cluster.js';

const LARGEST = 2n ** 63n - 1n;
const of = (fencingToken: bigint, key = 'order:42'): FencedHolder => ({ key, fencingToken });

describe('RedisFencingGate', () => {
  let cluster: RedisCluster;
  let own: OwnClient;
  let gate: RedisFencingGate;

  beforeAll(async () => {
    cluster = await RedisCluster.start(1); // one node, which refuses keys of different slots all the same
    own = new OwnClient(cluster.nodes[0]!.url);
    gate = new RedisFencingGate(own.redis);
  });

  beforeEach(() => own.redis.flushall());

  afterAll(async () => {
    await own[Symbol.asyncDispose]();
    await Promise.all(cluster.nodes.map((node) => node.stop()));
  });

  it('lets the same token in again, and larger ones, and refuses smaller ones', async () => {
    await gate.enter(of(5n));
    await gate.enter(of(5n));
    await gate.enter(of(7n));
    await expect(gate.enter(of(6n))).rejects.toThrow(LockStaleError);
    await expect(gate.enter(of(6n))).rejects.toMatchObject({
      code: 'LOCK_STALE',
      key: 'order:42',
      fencingToken: 6n,
      newest: 7n,
    });
    await gate.enter(of(1n, 'order:43'));
  });

  it('decides as exact numbers do, up to 64 bits', async () => {
    const largeOnes = fc.bigInt(2n ** 53n - 3n, 2n ** 53n + 3n);
    const token = fc.oneof(largeOnes, fc.bigInt(0n, LARGEST), fc.bigInt(0n, 200n));
    await fc.assert(
      fc.asyncProperty(token, token, async (seen, next) => {
        await own.redis.flushall();
        await gate.enter(of(seen));
        const entered = await gate.enter(of(next)).then(
          () => true,
          () => false,
        );
        expect(entered).toBe(next >= seen);
      }),
      { examples: [[9n, 10n], [10n, 9n], [2n ** 53n + 1n, 2n ** 53n], [LARGEST, LARGEST]] }, // prettier-ignore
    );
  });

  describe('call', () => {
    it.each([
      ['SET', [17, 'PX', 60_000], 'OK'],
      ['GET', [], null],
      ['INCRBY', [5], 5],
      ['HSET', ['a', '1', 'b', '2'], 2],
      ['LRANGE', [0, -1], []],
    ])('resolves with what %s replies', async (command, args, reply) => {
      expect(await gate.call(of(1n), 'total', command, ...args)).toEqual(reply);
    });

    it('does nothing for a stale holder', async () => {
      await gate.call(of(2n), 'total', 'SET', 'newer');
      await expect(gate.call(of(1n), 'total', 'SET', 'late')).rejects.toThrow(LockStaleError);
      await expect(gate.call(of(1n), 'total', 'DEL')).rejects.toThrow(LockStaleError);
      expect(await own.redis.get('total')).toBe('newer');
    });

    it('refuses stale holders from a read on, and after the data was deleted', async () => {
      await gate.call(of(2n), 'total', 'GET');
      await expect(gate.call(of(1n), 'total', 'SET', 'late')).rejects.toThrow(LockStaleError);
      await gate.call(of(3n), 'total', 'DEL');
      await expect(gate.call(of(2n), 'total', 'SET', 'late')).rejects.toThrow(LockStaleError);
    });

    it('guards all keys of one hash tag together', async () => {
      await gate.call(of(2n), '{order:42}:total', 'SET', 'newer');
      const late = gate.call(of(1n), '{order:42}:lines', 'DEL');
      await expect(late).rejects.toThrow(LockStaleError);
      await expect(gate.call(of(1n), 'order:42', 'DEL')).rejects.toThrow(LockStaleError);
      await expect(gate.enter(of(1n))).rejects.toThrow(LockStaleError);
    });

    it('rejects with the error of the command, as it is', async () => {
      await own.redis.lpush('total', 'a');
      await expect(gate.call(of(1n), 'total', 'INCR')).rejects.toThrow('WRONGTYPE');
      await expect(gate.call(of(1n), 'total', 'SETT')).rejects.toThrow(/unknown/i);
    });
  });

  describe('refuses what a body may have instead of a string, and does nothing', () => {
    const list = ['x', 'PX', '50'];

    it.each([
      ['a list as the key', ['{order:42}:total', '999999'], 'SET', [1], 'the key of call must be a string that is not empty, got an array'], // prettier-ignore
      ['an empty key', '', 'SET', [1], 'the key of call must be'],
      ['a list as the command', 'total', ['SET', 'total'], [1], 'the command of call must be a string, got an array'], // prettier-ignore
      ['a list as a value', 'total', 'SET', [list], 'the arguments of call must be strings, numbers or Buffers, got an array'], // prettier-ignore
      ['an object as a value', 'total', 'SET', [{}], 'the arguments of call must be'],
      ['nothing as a value', 'total', 'SET', [null], 'the arguments of call must be'],
    ])('%s', async (_, key, command, args, message) => {
      const called = gate.call(of(1n), key as string, command as string, ...(args as string[]));
      await expect(called).rejects.toThrow(TypeError);
      await expect(
        gate.call(of(1n), key as string, command as string, ...(args as string[])),
      ).rejects.toThrow(message);
      expect(await own.redis.keys('*')).toEqual([]);
    });

    it('a key of a guard, which data would overwrite', async () => {
      await gate.enter(of(5n, 'b'));
      const overwriting = gate.call(of(1n, 'other'), '{b}:guard:b', 'SET', '0');
      await expect(overwriting).rejects.toThrow(RangeError);
      await expect(gate.enter(of(4n, 'b'))).rejects.toThrow(LockStaleError);
    });

    it.each([
      ['longer than 512 bytes', 'ü'.repeat(257)],
      ['empty', ''],
      ['a list', ['a']],
      ['with a brace that opens nothing', 'a}b'],
    ])('a key of a lock that is %s', async (_, key) => {
      await expect(gate.enter(of(1n, key as string))).rejects.toThrow(LockKeyError);
      expect(await own.redis.keys('*')).toEqual([]);
    });
  });

  it('forgets a key when it is told to', async () => {
    await gate.enter(of(LARGEST));
    await gate.call(of(LARGEST), 'total', 'GET');
    expect(await gate.forget('order:42')).toBe(true);
    expect(await gate.forget('order:42')).toBe(false);
    await gate.enter(of(1n));
    await expect(gate.call(of(1n), 'total', 'GET')).rejects.toThrow(LockStaleError);
    expect(await gate.forget('order:42', 'total')).toBe(true);
    await gate.call(of(1n), 'total', 'GET');
  });

  it('sends the script once, then its hash', async () => {
    await own.redis.script('FLUSH');
    const sent = jest.spyOn(own.redis, 'eval');
    await gate.enter(of(1n));
    await gate.enter(of(1n));
    expect(sent).toHaveBeenCalledTimes(1);
    sent.mockRestore();
  });

  it('keeps the token for seven days, or as long as it is told', async () => {
    const guard = guardKey('order:42', 'order:42', '')!;
    await gate.enter(of(1n));
    expect(await own.redis.pttl(guard)).toBeGreaterThan(604_000_000);
    await new RedisFencingGate(own.redis, { keepFor: Infinity }).enter(of(1n));
    expect(await own.redis.pttl(guard)).toBe(-1);
    await new RedisFencingGate(own.redis, { keepFor: 60_000 }).enter(of(1n));
    expect(await own.redis.pttl(guard)).toBeGreaterThan(50_000);
  });

  it('reads what others have written with zeros in front, and refuses what is no number', async () => {
    const guard = guardKey('order:42', 'order:42', '')!;
    await own.redis.set(guard, '0010');
    await expect(gate.enter(of(9n))).rejects.toMatchObject({ newest: 10n });
    await gate.enter(of(11n));
    await own.redis.set(guard, '1e9');
    await expect(gate.enter(of(LARGEST))).rejects.toThrow('holds no fencing token');
    expect(await own.redis.get(guard)).toBe('1e9');
  });

  it('does not meet the keys of the store on the same server', async () => {
    const locks = new LockService(new RedisLockStore(own.redis));
    const lock = await locks.acquire('order:42');
    await gate.call(lock, 'lock:{order:42}:x', 'SET', 'data');
    await gate.enter(lock);
    expect(lock.isHeld).toBe(true);
    expect(await lock.release()).toBe(true);
    await locks.close();
  });

  describe('in a Cluster', () => {
    it.each(['', 'app:', 'app{7}:'])(
      'works with a client that has keyPrefix %p',
      async (keyPrefix) => {
        const client = new Cluster(cluster.startupNodes, { keyPrefix });
        const gateOfCluster = new RedisFencingGate(client);
        for (const key of ['total', '{order:42}:total', 'a:{b}:c', '{', 'x{']) {
          expect(await gateOfCluster.call(of(2n), key, 'SET', 'x')).toBe('OK');
          await expect(gateOfCluster.call(of(1n), key, 'SET', 'y')).rejects.toThrow(LockStaleError);
        }
        expect(await own.redis.get(`${keyPrefix}total`)).toBe('x');
        disconnect(client);
      },
    );

    it('refuses a key whose slot cannot be had a second time', async () => {
      await expect(gate.call(of(1n), 'a}b', 'SET', 'x')).rejects.toThrow(
        new RangeError(
          'the guard of key the string "a}b" cannot be put into its Cluster slot: give the key a hash tag, as in "{order:42}:total"',
        ),
      );
    });
  });

  it('refuses what is no client, and times that are none', () => {
    expect(() => new RedisFencingGate({} as never)).toThrow(TypeError);
    for (const keepFor of [0, 1.5, -1, '60s']) {
      expect(() => new RedisFencingGate(own.redis, { keepFor: keepFor as number })).toThrow(
        'keepFor must be a whole number of ms of at least 1, or Infinity',
      );
    }
  });
});
