import { LockPermitsError, LockService, RedisLockStore } from 'nest-holdfast';
import type { Lock } from 'nest-holdfast';
import { leftBehind } from '../../../support/faults/left-behind.js';
import { RedisServer } from '../../../support/servers/redis-server.js';
import { until } from '../../../support/until.js';
import { standing } from '../../support/app-instance.js';
import { aRequest } from '../locks.js';
import { SharingProcess, aPermit, aReader } from './sharers.js';
import { lineLength } from '../../../support/redis-line.js';

const COMPARE_AND_DELETE = `
if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) else return 0 end`;

describe('A lock on Redis that several share', () => {
  let server: RedisServer;
  let one: SharingProcess;
  let other: SharingProcess;

  beforeAll(async () => {
    server = await RedisServer.shared();
  });

  beforeEach(async () => {
    await server.command('FLUSHALL');
    [one, other] = [new SharingProcess(server.url), new SharingProcess(server.url)];
  });

  afterEach(() => Promise.all([one, other].map((each) => each[Symbol.asyncDispose]())));

  afterAll(() => server.stop());

  const pttl = async (key: string) => Number(await server.command('PTTL', key));

  it('is the string *inf or *<permits>, with a set beside it, each with a ttl, and nothing after the last of them', async () => {
    const reader = await one.take(aReader('doc:1', 20_000));
    const permit = await other.take(aPermit(5, 'export:1', 20_000));
    expect(await server.command('GET', 'lock:doc:1')).toBe('*inf');
    expect(await server.command('GET', 'lock:export:1')).toBe('*5');
    for (const key of ['doc:1', 'export:1']) {
      for (const name of [`lock:${key}`, `{lock:${key}}:shared`]) {
        expect(await pttl(name)).toBeGreaterThan(10_000);
        expect(await pttl(name)).toBeLessThanOrEqual(20_000);
      }
    }
    const names = await leftBehind(server);
    expect(names).toHaveLength(4);
    for (const lease of [reader, permit]) expect(await lease.release()).toBe(true);
    expect(await leftBehind(server)).toEqual([]);
  });

  it('leaves a lock without sharers as it was: one string, one counter', async () => {
    const before = await one.take(aReader('doc:1'));
    await before.release();
    const lease = await one.take(aRequest('doc:1'));
    expect(await leftBehind(server)).toEqual(['lock:doc:1']);
    expect(await server.command('GET', 'lock:doc:1')).toMatch(/^[\w-]{11}\.[0-9a-f-]{36}:/);
    expect(await server.command('DBSIZE')).toBe(2);
    await lease.release();
  });

  it('is excluded by a plain SET NX PX, and excludes it, whose holder cannot free it', async () => {
    const set = (token: string) => server.command('SET', 'lock:doc:1', token, 'NX', 'PX', 30_000);
    const free = (token: string) =>
      server.command('EVAL', COMPARE_AND_DELETE, 1, 'lock:doc:1', token);
    await set('their-token');
    expect(await one.store.tryAcquire(aReader('doc:1'))).toBeUndefined();
    expect(await free('their-token')).toBe(1);

    const readers = [await one.take(aReader('doc:1')), await other.take(aReader('doc:1'))];
    for (const reader of readers) {
      expect(await set('their-token')).toBeNull();
      expect(await free('their-token')).toBe(0);
      expect(await reader.release()).toBe(true);
    }
    expect(await set('their-token')).toBe('OK');
  });

  it('is there as long as the longest of those who share it, and no longer', async () => {
    const long = await one.take(aReader('doc:1', 60_000));
    const short = await other.take(aReader('doc:1', 5_000));
    expect(await pttl('lock:doc:1')).toBeGreaterThan(50_000);
    expect(await long.release()).toBe(true);
    expect(await pttl('lock:doc:1')).toBeLessThanOrEqual(5_000);
    expect(await short.extend(30_000)).toBe(true);
    expect(await pttl('lock:doc:1')).toBeGreaterThan(20_000);
    expect(await short.extend(50)).toBe(true);
    await until(async () => (await server.command('DBSIZE')) === 0);
    expect(await short.extend(50)).toBe(false);
  });

  it('is lost to all of them with its key, also when others share it again', async () => {
    const before = await one.take(aReader('doc:1'));
    await server.command('DEL', 'lock:doc:1');
    const after = await other.take(aReader('doc:1'));
    expect(await before.extend(30_000)).toBe(false);
    expect(await before.release()).toBe(false);
    expect(await after.extend(30_000)).toBe(true);
    const { holders } = (await one.store.inspect('doc:1'))!;
    expect(holders).toHaveLength(1);
  });

  it.each([
    [
      'whose set is gone',
      async () => {
        await one.take(aPermit(5, 'export:1'));
        await server.command('DEL', '{lock:export:1}:shared');
      },
    ],
    [
      'that another program has set',
      () => server.command('SET', 'lock:export:1', '*5', 'PX', 30_000),
    ],
  ])('is held until its end where its holder is unknown: a marker %s', async (_, leave) => {
    await leave();
    for (const request of [aPermit(5, 'export:1'), aReader('export:1'), aRequest('export:1')])
      expect(await other.store.tryAcquire(request)).toBeUndefined();
    expect(await other.store.inspect('export:1')).toMatchObject({ permits: 5, holders: [] });
    expect(await pttl('lock:export:1')).toBeGreaterThan(20_000);
    await server.command('PEXPIRE', 'lock:export:1', 100);
    expect(await (await other.wait(aPermit(5, 'export:1'))).release()).toBe(true);
  });

  it('says who shares it, with which permits, and nothing of those whose ttl has passed', async () => {
    const requests = [aPermit(3, 'export:1', 30), aPermit(3, 'export:1'), aPermit(3, 'export:1')];
    for (const [index, request] of requests.entries())
      await one.take({ ...request, holder: `host:${index}:0` });
    const seen = await until(async () => {
      const inspection = await other.store.inspect('export:1');
      return inspection?.holders?.length === 2 ? inspection : undefined;
    });
    expect(seen).toEqual({
      waiters: [],
      waiterCount: 0,
      key: 'export:1',
      permits: 3,
      holder: seen.holders![0],
      holders: expect.arrayContaining(['host:1:0', 'host:2:0']),
      remaining: expect.any(Number),
    });
    expect(seen.remaining).toBeGreaterThan(20_000);
  });

  it.each([
    ['those who have it', async () => void (await one.take(aPermit(5, 'export:1')))],
    [
      'those who wait for it',
      async () => {
        await server.command('SET', 'lock:export:1', 'foreign');
        one.wait(aPermit(5, 'export:1')).catch(() => {});
        await standing(server, 'export:1', 1);
      },
    ],
  ])(
    'refuses other permits than those of %s, to one who tries and one who waits',
    async (_, use) => {
      await use();
      for (const permits of [4, Infinity]) {
        const refused = { constructor: LockPermitsError, key: 'export:1', permits, inUse: 5 };
        const request = () => aPermit(permits, 'export:1');
        await expect(other.store.tryAcquire(request())).rejects.toMatchObject(refused);
        await expect(other.wait(request())).rejects.toMatchObject(refused);
        const both = aPermit(permits, ['aside', 'export:1']);
        await expect(other.store.tryAcquire(both)).rejects.toMatchObject(refused);
      }
      expect(await server.command('EXISTS', 'lock:aside', '{lock:aside}:shared')).toBe(0);
      expect(
        await lineLength((...words) => server.command(...words), 'lock:export:1'),
      ).toBeLessThanOrEqual(1);
    },
  );

  it('is refused with other permits by one command, also where replicas are awaited', async () => {
    await one.take(aPermit(5, 'export:1'));
    const sent = jest.spyOn(other.redis, 'eval');
    const store = new RedisLockStore(other.redis, { replicas: 1 });
    await expect(store.tryAcquire(aPermit(4, 'export:1'))).rejects.toThrow(LockPermitsError);
    expect(sent).toHaveBeenCalledTimes(1);
  });

  it('takes other permits when no caller has or awaits it, or none that is alive', async () => {
    await one.take(aPermit(5, 'export:1', 40));
    const lease = await until(() => other.store.tryAcquire(aPermit(2, 'export:1')).catch(() => undefined)); // prettier-ignore
    expect(await lease.release()).toBe(true);
    await other.take(aReader('export:1'));
  });

  it('is one command to take, to extend and to give back, through the service, too', async () => {
    const locks = new LockService(one.store);
    const held = async () => server.command('GET', 'lock:doc:1');
    expect(await locks.withLock('doc:1', { mode: 'read' }, held)).toBe('*inf');
    const work = (lock: Lock) => lock.extend(5_000);
    await locks.withLock('doc:1', { mode: 'read' }, work); // sends each script in full
    const sent = jest.spyOn(one.redis, 'evalsha');
    await locks.withLock('doc:1', { mode: 'read' }, work);
    expect(sent).toHaveBeenCalledTimes(3);
    await locks.close();
  });
});
