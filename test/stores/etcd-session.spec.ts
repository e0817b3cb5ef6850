import { EtcdLockStore } from 'nest-holdfast/etcd';
import type { StoreNotice } from 'nest-holdfast';
import { aborted, inTime } from '../support/faults/in-time.js';
import { EtcdServer } from '../support/etcd-server.js';
import { until } from '../support/until.js';
import { contentOf } from './etcd-content.js';
import { requestFor } from './etcd-requests.js';

const SESSION = 1_000;

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

  it('lives longer than its timeout', async () => {
    const lease = await store.tryAcquire(requestFor('key'));
    await new Promise((resolve) => setTimeout(resolve, 1.5 * SESSION));
    expect(lease!.lost!.aborted).toBe(false);
    expect(await lease!.extend(1)).toBe(true);
    expect(await lease!.release()).toBe(true);
    expect(notices).toEqual([]);
  });

  it('is lost when etcd lets it go; the next lock has a new one', async () => {
    const lease = await store.tryAcquire(requestFor('key'));
    const [entry] = await contentOf(server);
    await server.ask('/v3/lease/revoke', { ID: entry!.lease });
    await inTime(SESSION, aborted(lease!.lost!)); // with the next beat
    expect(String(lease!.lost!.reason)).toContain('etcd has let it go');
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

  it('is in doubt, then lost by the clock of this process, when etcd hangs', async () => {
    const lease = await store.tryAcquire(requestFor('lost'));
    const since = performance.now();
    server.pause();
    await until(() => notices.length > 0);
    expect(notices).toEqual([{ type: 'doubt', reason: expect.stringContaining('no answer') }]);
    expect(lease!.lost!.aborted).toBe(false);
    const extension = lease!.extend(1);
    await inTime(SESSION, aborted(lease!.lost!));
    expect(performance.now() - since).toBeLessThan(SESSION + 50);
    expect(await extension).toBe(false);
  });

  it('is in doubt, and confirmed, when etcd hangs for a moment', async () => {
    const lease = await store.tryAcquire(requestFor('key'));
    server.pause();
    await until(() => notices.length > 0);
    const extension = lease!.extend(1);
    server.resume();
    expect(await extension).toBe(true);
    expect(lease!.lost!.aborted).toBe(false);
  });

  it('does not answer for ever: attempts fail while etcd hangs', async () => {
    server.pause();
    await expect(inTime(3_000, store.tryAcquire(requestFor('key')))).rejects.toThrow('no answer');
    await expect(inTime(3_000, store.inspect('key'))).rejects.toThrow('no answer');
  });
});
