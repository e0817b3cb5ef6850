import { EtcdLockStore } from 'nest-holdfast/etcd';
import type { Lease, StoreNotice } from 'nest-holdfast';
import { FakeClock } from 'nest-holdfast/testing';
import { aborted, inTime } from '../../../support/faults/in-time.js';
import { EtcdServer } from '../../../support/servers/etcd-server.js';
import { until } from '../../../support/until.js';
import { contentOf } from '../queue/content.js';
import { requestFor } from '../client/requests.js';

/** A machine that stands still for two seconds loses no session. */
const SESSION = 6_000;

describe('the session of an EtcdLockStore', () => {
  let server: EtcdServer;
  let store: EtcdLockStore;
  let notices: StoreNotice[];

  beforeAll(async () => {
    server = await EtcdServer.start();
  });

  afterAll(() => server?.remove());

  beforeEach(() => {
    notices = [];
    store = new EtcdLockStore({ hosts: server.url }, { sessionTimeout: SESSION });
    store.observe((notice) => notices.push(notice));
  });

  afterEach(async () => {
    server.resume();
    await store.close();
  });

  it('is one for all its locks, and is given back with them', async () => {
    const leases = await Promise.all(
      ['a', 'b', 'c'].map((key) => store.tryAcquire(requestFor(key))),
    );
    const entries = await contentOf(server);
    expect(new Set(entries.map(({ lease }) => lease)).size).toBe(1);
    expect(leases.every((lease) => lease?.lost?.aborted === false)).toBe(true);
    await store.close();
    expect(leases.every((lease) => lease?.lost?.aborted)).toBe(true);
    expect(await contentOf(server)).toEqual([]);
  });

  it('is renewed long before its timeout, over and over', async () => {
    const lease = await store.tryAcquire(requestFor('key'));
    const [entry] = await contentOf(server);
    const secondsLeft = async () => {
      const answer = await server.ask('/v3/lease/timetolive', { ID: entry!.lease });
      return Number((answer as { TTL: string }).TTL);
    };
    for (let round = 0; round < 2; round += 1) {
      await until(async () => (await secondsLeft()) < SESSION / 1_000 - 1);
      await until(async () => (await secondsLeft()) >= SESSION / 1_000 - 1);
    }
    expect(lease!.lost!.aborted).toBe(false);
    expect(await lease!.extend(1)).toBe(true);
    expect(await lease!.release()).toBe(true);
    expect(notices).toEqual([]);
  });

  it('is lost when etcd lets it go; the next lock has a new one', async () => {
    const lease = await store.tryAcquire(requestFor('key'));
    const [entry] = await contentOf(server);
    await server.ask('/v3/lease/revoke', { ID: entry!.lease });
    await inTime(SESSION, aborted(lease!.lost!));
    expect(String(lease!.lost!.reason)).toMatch(/etcd has let it go|was deleted at etcd/); // with a beat, or by its watch
    expect(await lease!.extend(1)).toBe(false);
    expect(await lease!.release()).toBe(false);
    const next = await store.tryAcquire(requestFor('key'));
    expect((await contentOf(server))[0]!.lease).not.toBe(entry!.lease);
    expect(await next!.release()).toBe(true);
  });

  it('that is found gone by an attempt is replaced at once', async () => {
    const lease = await store.tryAcquire(requestFor('key'));
    const [entry] = await contentOf(server);
    await server.ask('/v3/lease/revoke', { ID: entry!.lease });
    const next = await store.tryAcquire(requestFor('key'));
    expect(next).toBeDefined();
    expect(lease!.lost!.aborted).toBe(true);
  });

  describe('when etcd hangs', () => {
    const clock = new FakeClock();
    const LONG = 600_000;
    let lease: Lease;
    let keys = 0;

    beforeEach(async () => {
      await store.close();
      store = new EtcdLockStore({ hosts: server.url }, { sessionTimeout: LONG, clock });
      store.observe((notice) => notices.push(notice));
      lease = (await store.tryAcquire(requestFor(`hung:${(keys += 1)}`)))!;
      server.pause();
      for (let ms = 0; notices.length === 0 && ms < LONG; ms += 1_000) await clock.advance(1_000);
    });

    it('is in doubt, then lost by the clock of this process', async () => {
      expect(notices).toEqual([
        { type: 'doubt', reason: expect.stringContaining('etcd does not answer') },
      ]);
      expect(lease.lost!.aborted).toBe(false);
      const extension = lease.extend(1);
      await clock.advance(LONG);
      expect(lease.lost!.aborted).toBe(true);
      expect(await extension).toBe(false);
    });

    it('is in doubt, and confirmed, where that is for a moment', async () => {
      const extension = lease.extend(1);
      server.resume();
      const answered = jest.fn();
      void extension.then(answered);
      await until(() => clock.advance(10).then(() => answered.mock.calls.length > 0));
      expect(await extension).toBe(true);
      expect(lease.lost!.aborted).toBe(false);
    });
  });

  it('does not answer for ever: attempts fail while etcd hangs', async () => {
    server.pause();
    await expect(inTime(2 * SESSION, store.tryAcquire(requestFor('key')))).rejects.toThrow(
      'no answer',
    );
    await expect(inTime(2 * SESSION, store.inspect('key'))).rejects.toThrow('no answer');
  });
});
