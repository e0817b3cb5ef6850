import { rejectionOf } from '../../../core/support/outcome.js';
import { until } from '../../../support/until.js';
import { RedlockNodes, RedlockProcess } from '../support/nodes.js';

/** Replies that no script ever gives. */
const WRONG: readonly (readonly [string, unknown])[] = [
  ['QUEUED', 'QUEUED'],
  ['undefined', undefined],
  ['an object', {}],
  ['a fraction', 1.5],
  ['an empty list', []],
  ['a list that is too long', [1, 2, 3]],
];
const LONG = 30_000;
const KEY = 'order:42';
const FEW = [4];
const MOST = [0, 2, 4];

describe('Nodes of five that answer what they were not asked', () => {
  let nodes: RedlockNodes;
  let own: RedlockProcess;
  let other: RedlockProcess;

  beforeAll(async () => {
    nodes = await RedlockNodes.start();
    own = await RedlockProcess.start(nodes, { service: { ttl: LONG } });
    other = await RedlockProcess.start(nodes, { service: { ttl: LONG } });
    for (const { locks } of [own, other]) await locks.withLock('warm-up', () => {});
  });

  afterEach(() => jest.restoreAllMocks());

  afterAll(async () => {
    await own[Symbol.asyncDispose]();
    await other[Symbol.asyncDispose]();
    await nodes[Symbol.asyncDispose]();
  });

  /** They do what is asked, the first `times` of them, and say something else of it. */
  const answer = (indices: readonly number[], reply: unknown, times = 1): void => {
    for (const redis of indices.map((index) => own.clients[index]!)) {
      let left = times;
      for (const name of ['evalsha', 'eval'] as const)
        jest.spyOn(redis, name).mockImplementation(async (...args: unknown[]) => {
          const real = await redis.call(name, ...(args as string[]));
          return left-- > 0 ? reply : real;
        });
    }
  };

  describe.each(WRONG)('%s', (_, reply) => {
    it('have no vote while a majority answers', async () => {
      answer(FEW, reply);
      const lock = await own.locks.acquire(KEY);
      expect(await other.locks.tryAcquire(KEY)).toBeUndefined();
      await own.answered(); // a late grant may have a question of its own, which is not the one that is meant
      answer(FEW, reply);
      await lock.extend(LONG);
      expect(lock.isHeld).toBe(true);
      expect(await lock.release()).toBe(true);
      await nodes.nothingLeft();
    });

    it('grant nothing as a majority', async () => {
      answer(MOST, reply);
      expect(await rejectionOf(own.locks.tryAcquire(KEY))).toMatchObject({
        code: 'LOCK_STORE_FAILED',
        message: expect.stringContaining('not understood'),
      });
      jest.restoreAllMocks();
      await nodes.nothingLeft();
    });

    it('extend nothing as a majority, and the lock is held as long as it was', async () => {
      const lock = await own.locks.acquire(KEY);
      await own.answered(); // as above
      answer(MOST, reply);
      expect(await rejectionOf(lock.extend(LONG))).toMatchObject({ code: 'LOCK_STORE_FAILED' });
      expect(lock.isHeld).toBe(true);
      jest.restoreAllMocks();
      await lock.extend(LONG);
      expect(await lock.release()).toBe(true);
      await nodes.nothingLeft();
    });

    it('are no end of a wait', async () => {
      const held = await other.locks.acquire(KEY);
      answer(FEW, reply);
      const waiting = own.locks.acquire(KEY, { waitTimeout: LONG });
      await until(async () => (await queued()) > 0, { what: 'it to stand in line' });
      expect(held.isHeld).toBe(true);
      await held.release();
      expect(await (await waiting).release()).toBe(true);
      await nodes.nothingLeft();
    });
  });

  const queued = async () => {
    const counts = await Promise.all(
      nodes.servers.map((server) => server.command('EXISTS', `{lock:${KEY}}:line`)),
    );
    return counts.filter((count) => count === 1).length;
  };
});
