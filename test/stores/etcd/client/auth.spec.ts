import { EtcdLockStore } from 'nest-holdfast/etcd';
import { inTime } from '../../../support/faults/in-time.js';
import { until } from '../../../support/until.js';
import { EtcdAuthServer } from './auth-server.js';
import { metric } from '../queue/content.js';
import { never, requestFor } from './requests.js';

/** Milliseconds after which a login is forgotten, in any case. */
const FORGOTTEN = 2_250;
const WATCHERS = 'etcd_debugging_mvcc_watcher_total';
const DENIED =
  'grpc_server_handled_total{grpc_code="PermissionDenied",grpc_method="Txn",grpc_service="etcdserverpb.KV",grpc_type="unary"}';

describe('an EtcdLockStore that logs in', () => {
  let simple: EtcdAuthServer;
  let jwt: EtcdAuthServer;
  let stores: EtcdLockStore[] = [];

  beforeAll(async () => {
    [simple, jwt] = await Promise.all([
      EtcdAuthServer.demanding('simple'),
      EtcdAuthServer.demanding('jwt'),
    ]);
  });

  afterAll(() => Promise.all([simple?.remove(), jwt?.remove()]));

  beforeEach(() => {
    stores = [];
  });

  afterEach(() => Promise.all(stores.map((store) => store.close())));

  function open(server: EtcdAuthServer, password = 'secret', prefix = 'holdfast/'): EtcdLockStore {
    const auth = { username: 'locker', password };
    const store = new EtcdLockStore(
      { hosts: server.url, auth },
      { prefix, sessionTimeout: 60_000 },
    );
    stores.push(store);
    return store;
  }

  /** The same with simple tokens and with JWT, which run out in different ways. */
  async function withEither(test: (server: EtcdAuthServer) => Promise<void>): Promise<void> {
    await Promise.all([simple, jwt].map(test));
  }

  it('holds, waits and releases when its logins have run out meanwhile', () =>
    withEither(async (server) => {
      const [holder, waiter, late] = [open(server), open(server), open(server)];
      await (await late.tryAcquire(requestFor('warm-up')))!.release();
      const lease = await holder.tryAcquire(requestFor('key'));
      const waiting = waiter.acquire(requestFor('key'), never());
      const other = await waiter.tryAcquire(requestFor('other'));
      await new Promise((resolve) => setTimeout(resolve, FORGOTTEN));
      const last = late.acquire(requestFor('key'), never()); // a new watch, and no login for it
      const third = waiter.acquire(requestFor('other'), never()); // a new watch on a stream of before
      expect(await lease!.extend(1)).toBe(true);
      expect(await lease!.release()).toBe(true);
      expect(await (await inTime(30_000, waiting)).release()).toBe(true);
      expect(await (await inTime(30_000, last)).release()).toBe(true);
      expect(await other!.release()).toBe(true);
      expect(await (await inTime(30_000, third)).release()).toBe(true);
    }));

  it('holds, waits and releases when users and roles are changed meanwhile', () =>
    withEither(async (server) => {
      const [holder, waiter] = [open(server), open(server)];
      const lease = await holder.tryAcquire(requestFor('key'));
      const other = await waiter.tryAcquire(requestFor('other'));
      const waiting = waiter.acquire(requestFor('key'), never());
      await server.askAsRoot('/v3/auth/user/add', { name: 'new', password: 'user' });
      const third = waiter.acquire(requestFor('other'), never());
      expect(await lease!.extend(1)).toBe(true);
      expect(await lease!.release()).toBe(true);
      expect(await (await inTime(30_000, waiting)).release()).toBe(true);
      expect(await other!.release()).toBe(true);
      expect(await (await inTime(30_000, third)).release()).toBe(true);
      await server.askAsRoot('/v3/auth/user/delete', { name: 'new' });
    }));

  it('leaves nothing behind of a release and a wait that end while its rights are taken away', async () => {
    const [holder, waiter] = [open(simple), open(simple)];
    const lease = await holder.tryAcquire(requestFor('key'));
    const stop = new AbortController();
    const waiting = waiter.acquire(requestFor('key'), stop.signal);
    await until(async () => (await metric(simple, WATCHERS)) === 2, { what: 'both to watch' });
    await simple.permit(false);
    const released = lease!.release();
    stop.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    await until(async () => (await metric(simple, DENIED)) >= 2);
    await simple.permit(true);
    expect(await inTime(30_000, released)).toBe(true);
    const late = open(simple);
    const next = await until(() => late.tryAcquire(requestFor('key'))); // the queue is empty
    expect(await next.release()).toBe(true);
  });

  it('comes back after a restart of the server, which forgets all logins', async () => {
    const store = open(simple);
    const lease = await store.tryAcquire(requestFor('key'));
    const waiting = store.acquire(requestFor('key'), never());
    await simple.restart();
    expect(await lease!.release()).toBe(true);
    expect(await (await inTime(30_000, waiting)).release()).toBe(true);
  });

  it('fails, and does not wait, when its login or its rights are no good', async () => {
    const [unknown, confined] = [open(simple, 'wrong'), open(simple, 'secret', 'elsewhere/')];
    const invalid = 'authentication failed';
    await expect(unknown.tryAcquire(requestFor('key'))).rejects.toThrow(invalid);
    await expect(unknown.acquire(requestFor('key'), never())).rejects.toThrow(invalid);
    const denied = 'permission denied';
    await expect(confined.tryAcquire(requestFor('key'))).rejects.toThrow(denied);
    await expect(confined.acquire(requestFor('key'), never())).rejects.toThrow(denied);
    await expect(confined.inspect('key')).rejects.toThrow(denied);
  });
});
