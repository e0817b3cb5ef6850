import { LockService, RedisLockStore } from 'nest-holdfast';
import { RedisFencingGate } from 'nest-holdfast/fencing';
import type { Lease } from 'nest-holdfast';
import { nothingLeft } from '../../../support/faults/left-behind.js';
import { RedisServer } from '../../../support/servers/redis-server.js';
import { until } from '../../../support/until.js';
import { rejectionOf } from '../../../core/support/outcome.js';
import { OwnClient, RedisLocks, aRequest } from '../locks.js';

const VALUES: readonly unknown[] = ['QUEUED', '', undefined, null, -1, 1.5, 0, 1, 17, {}];
const LISTS: readonly unknown[] = [[], [1], [0, 1], ['QUEUED'], [1, 2, 3]];
const WRONG = [...VALUES, ...LISTS];
/** All but those that say something here. */
const wrong = (...right: readonly unknown[]) =>
  WRONG.filter((each) => !right.some((one) => JSON.stringify(one) === JSON.stringify(each))).map(
    (reply) => [reply === undefined ? 'undefined' : JSON.stringify(reply), reply] as const,
  );

const UNKNOWN = {
  code: 'LOCK_STORE_FAILED',
  message: expect.stringMatching(/not understood|ERR|OK|QUEUED/),
};

describe('A reply that no script of RedisLockStore gives', () => {
  let server: RedisServer;
  let other: RedisLocks;
  let own: RedisLocks;

  beforeAll(async () => {
    server = await RedisServer.shared();
  });

  beforeEach(async () => {
    await server.command('FLUSHALL');
    own = new RedisLocks(server.url, { ttl: 30_000 });
    other = new RedisLocks(server.url, { ttl: 30_000 });
    await own.locks.withLock('warm-up', () => {});
  });

  afterEach(async () => {
    await own[Symbol.asyncDispose]();
    await other[Symbol.asyncDispose]();
  });

  afterAll(() => server.stop());

  /** The server does what the next script says, the first one that answers as `isMeant`, and something else is said of it. */
  const answerNext = (reply: unknown, isMeant = (_: unknown) => true): void => {
    const spies = (['evalsha', 'eval'] as const).map((name) =>
      jest.spyOn(own.redis, name).mockImplementation(async (...args: unknown[]) => {
        const answer = await own.redis.call(name, ...(args as string[]));
        if (!isMeant(answer)) return answer;
        for (const spy of spies) spy.mockRestore();
        return reply;
      }),
    );
  };

  const failed = async (asked: Promise<unknown>): Promise<void> => {
    expect(await rejectionOf(asked)).toMatchObject(UNKNOWN);
  };

  describe('is no lock', () => {
    it.each(wrong(null, 0, 1, 17))('%s', async (_, reply) => {
      answerNext(reply);
      await failed(own.locks.tryAcquire('a'));
      await nothingLeft(server);
    });

    it.each(wrong(null, -1, 0, 1, 17))('to one of several keys: %s', async (_, reply) => {
      answerNext(reply);
      await failed(own.locks.tryAcquire(['a', 'b']));
      await nothingLeft(server);
    });

    it.each(wrong([0, 1]))('to any of one turn: %s', async (_, reply) => {
      const many = Array.from({ length: 50 }, (__, index) => `warm:${index}`);
      const leases = await Promise.all(many.map((key) => own.store.tryAcquire(aRequest(key))));
      await Promise.all(leases.map((lease) => lease!.release())); // from now on, those of one turn share a call
      answerNext(reply);
      const keys = ['a', 'b'];
      await Promise.all(keys.map((key) => failed(own.locks.tryAcquire(key))));
      await nothingLeft(server);
    });

    it.each(wrong(null, 1))('to a reader: %s', async (_, reply) => {
      answerNext(reply);
      await failed(own.locks.tryAcquire('a', { mode: 'read' }));
      await nothingLeft(server);
    });

    it.each(wrong(null, 1))('to one who wants a permit: %s', async (_, reply) => {
      const held = await other.locks.acquire('a', { permits: 1 });
      answerNext(reply);
      const asked = await rejectionOf(own.locks.tryAcquire('a', { permits: 1 }));
      expect(asked).toBeInstanceOf(Error);
      await held.release();
      await nothingLeft(server);
    });

    it.each(wrong([[1]], [[0, 1]]))('to one who stands in line: %s', async (_, reply) => {
      const held = await other.locks.acquire('a');
      const stop = new AbortController();
      answerNext(reply, Array.isArray);
      await rejectionOf(own.store.acquire!(aRequest('a'), stop.signal));
      await held.release();
      await nothingLeft(server);
    });

    const claims = { writer: undefined, reader: Infinity, permit: 2 };
    describe.each(Object.entries(claims))('made of the claim of a %s', (_, permits) => {
      it.each(wrong(null, [0], [1], [0, 1]))('%s', async (__, reply) => {
        const held = (await other.store.tryAcquire(aRequest('a')))!;
        const stop = new AbortController();
        const waiting = own.store.acquire!({ ...aRequest('a'), permits }, stop.signal);
        await until(async () => (await server.command('EXISTS', '{lock:a}:line')) === 1, {
          what: 'it to stand in line',
        });
        await held.release();
        const claim = await waiting;
        answerNext(reply);
        expect(await rejectionOf(claim.extend(30_000))).toBeInstanceOf(Error);
        await claim.release(); // a writer's claim is taken back already
        await nothingLeft(server);
      });
    });
  });

  describe('confirms nothing', () => {
    const kinds = { writer: {}, reader: { mode: 'read' }, permit: { permits: 2 } } as const;
    describe.each(Object.entries(kinds))('to a %s', (_, sharing) => {
      it.each(wrong([1], [0]))('that extends its lock: %s', async (__, reply) => {
        const lock = await own.locks.acquire('a', sharing);
        answerNext(reply);
        await failed(lock.extend(30_000));
        expect(lock.isHeld).toBe(true);
        await lock.extend(30_000);
        expect(await lock.release()).toBe(true);
        await nothingLeft(server);
      });

      it.each(wrong(1, 0))('that releases its lock: %s', async (__, reply) => {
        const lock = await own.locks.acquire('a', sharing);
        const told: unknown[] = [];
        own.locks.events.on('releaseFailed', ({ error }) => told.push(error));
        answerNext(reply);
        expect(await lock.release()).toBe(false);
        expect(told).toEqual([expect.objectContaining({ name: 'UnknownAnswerError' })]);
      });
    });

    it.each(wrong(1, 0))('to a writer that becomes a reader: %s', async (_, reply) => {
      const lock = await own.locks.acquire('a');
      answerNext(reply);
      await failed(lock.downgrade());
      expect(await lock.release()).toBe(true);
      await nothingLeft(server);
    });

    it.each(wrong(1, 0))('to a store of several: %s', async (_, reply) => {
      const lease = (await own.store.tryAcquire(aRequest('a')))!;
      answerNext(reply);
      const tokens = { from: lease.fencingToken!, to: lease.fencingToken! };
      expect(await rejectionOf(lease.raiseFencing!(tokens))).toMatchObject({
        name: 'UnknownAnswerError',
      });
      await lease.release();
    });
  });

  it.each(wrong(null, [0, 1]))('passes nothing on: %s', async (_, reply) => {
    const lease = (await own.store.tryAcquire(aRequest('a')))!;
    answerNext(reply);
    const passed = lease.handOff!(30_000, true) as Promise<Lease | undefined>;
    expect(await rejectionOf(passed)).toMatchObject({ name: 'UnknownAnswerError' });
    await nothingLeft(server);
  });

  it.each(wrong(null))('is no inspection: %s', async (_, reply) => {
    answerNext(reply);
    await failed(own.locks.inspect('a'));
  });

  it.each(wrong(0, 1, 17, -1))('is no acknowledgement of replicas: %s', async (_, reply) => {
    const locks = new LockService(new RedisLockStore(own.redis, { replicas: 1 }));
    jest.spyOn(own.redis, 'wait').mockResolvedValue(reply as number);
    await failed(locks.tryAcquire('a'));
    await nothingLeft(server);
    await locks.close();
  });

  it.each(wrong([1], [0, 1]))('lets no write through a gate: %s', async (_, reply) => {
    const gate = new RedisFencingGate(own.redis);
    await gate.enter({ key: 'a', fencingToken: 5n });
    answerNext(reply);
    await failed(gate.enter({ key: 'a', fencingToken: 6n }));
  });

  it('is that of a MULTI of the application', async () => {
    const writer = await other.locks.acquire('doc');
    const permit = await other.locks.acquire('sem', { permits: 1 });
    await own.redis.multi({ pipeline: false });
    const advice = { message: expect.stringContaining('a client of their own') };
    expect(await rejectionOf(own.locks.tryAcquire('doc', { mode: 'read' }))).toMatchObject(advice);
    expect(await rejectionOf(own.locks.tryAcquire('sem', { permits: 1 }))).toMatchObject(advice);
    expect(await rejectionOf(own.locks.tryAcquire('free'))).toMatchObject(advice);
    await own.redis.exec();
    expect([writer.isHeld, permit.isHeld]).toEqual([true, true]);
    await writer.release();
    await permit.release();
    await nothingLeft(server);
  });

  it('ends no process', async () => {
    const client = new OwnClient(server.url);
    const locks = new LockService(new RedisLockStore(client.redis), { ttl: 3_000 });
    await locks.acquire('k');
    const told: string[] = [];
    locks.events.on('jeopardy', () => told.push('jeopardy'));
    locks.events.on('recovered', () => told.push('recovered'));
    const spy = jest.spyOn(client.redis, 'evalsha').mockResolvedValue(null);
    await until(() => told.includes('jeopardy'));
    spy.mockRestore();
    await until(() => told.includes('recovered'));
    await locks.close();
    await client[Symbol.asyncDispose]();
  });
});
