import { EtcdLockStore } from 'nest-holdfast/etcd';
import { inTime } from '../faults/in-time.js';
import { EtcdAuthServer } from './etcd-auth-server.js';
import { never, requestFor } from './etcd-requests.js';

/** Milliseconds after which a login is forgotten, in any case. */
const FORGOTTEN = 2_500;

describe.each(['simple', 'jwt'] as const)('an EtcdLockStore that logs in, %s tokens,', (tokens) => {
  let server: EtcdAuthServer;
  let stores: EtcdLockStore[] = [];

  beforeAll(async () => {
    server = await EtcdAuthServer.demanding(tokens);
  });

  afterAll(() => server?.remove());

  beforeEach(() => {
    stores = [];
  });

  afterEach(() => Promise.all(stores.map((store) => store.close())));

  function open(password = 'secret', prefix = 'holdfast/'): EtcdLockStore {
    const auth = { username: 'locker', password };
    const store = new EtcdLockStore({ hosts: server.url, auth }, { prefix, sessionTimeout: 6_000 });
    stores.push(store);
    return store;
  }

  it('holds, waits and releases when its logins have run out meanwhile', async () => {
    const [holder, waiter, late] = [open(), open(), open()];
    await (await late.tryAcquire(requestFor('warm-up')))!.release();
    const lease = await holder.tryAcquire(requestFor('key'));
    const waiting = waiter.acquire(requestFor('key'), never());
    const other = await waiter.tryAcquire(requestFor('other'));
    await new Promise((resolve) => setTimeout(resolve, FORGOTTEN));
    const last = late.acquire(requestFor('key'), never()); // a new watch, and no login for it
    const third = waiter.acquire(requestFor('other'), never()); // a new watch on a stream of before
    expect(await lease!.extend(1)).toBe(true);
    expect(await lease!.release()).toBe(true);
    expect(await (await inTime(3_000, waiting)).release()).toBe(true);
    expect(await (await inTime(3_000, last)).release()).toBe(true);
    expect(await other!.release()).toBe(true);
    expect(await (await inTime(3_000, third)).release()).toBe(true);
  });

  it('holds, waits and releases when users and roles are changed meanwhile', async () => {
    const [holder, waiter] = [open(), open()];
    const lease = await holder.tryAcquire(requestFor('key'));
    const other = await waiter.tryAcquire(requestFor('other'));
    const waiting = waiter.acquire(requestFor('key'), never());
    await server.askAsRoot('/v3/auth/user/add', { name: 'new', password: 'user' });
    const third = waiter.acquire(requestFor('other'), never());
    expect(await lease!.extend(1)).toBe(true);
    expect(await lease!.release()).toBe(true);
    expect(await (await inTime(3_000, waiting)).release()).toBe(true);
    expect(await other!.release()).toBe(true);
    expect(await (await inTime(3_000, third)).release()).toBe(true);
    await server.askAsRoot('/v3/auth/user/delete', { name: 'new' });
  });

  it('comes back after a restart of the server, which forgets all logins', async () => {
    const store = open();
    const lease = await store.tryAcquire(requestFor('key'));
    const waiting = store.acquire(requestFor('key'), never());
    await server.restart();
    expect(await lease!.release()).toBe(true);
    expect(await (await inTime(5_000, waiting)).release()).toBe(true);
  });

  it('fails, and does not wait, when its login or its rights are no good', async () => {
    const [unknown, confined] = [open('wrong'), open('secret', 'elsewhere/')];
    const invalid = 'authentication failed';
    await expect(unknown.tryAcquire(requestFor('key'))).rejects.toThrow(invalid);
    await expect(unknown.acquire(requestFor('key'), never())).rejects.toThrow(invalid);
    const denied = 'permission denied';
    await expect(confined.tryAcquire(requestFor('key'))).rejects.toThrow(denied);
    await expect(confined.acquire(requestFor('key'), never())).rejects.toThrow(denied);
    await expect(confined.inspect('key')).rejects.toThrow(denied);
  });
});
