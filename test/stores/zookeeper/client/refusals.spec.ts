import { LockService } from 'nest-holdfast';
import { aborted, inTime } from '../../../support/faults/in-time.js';
import { until } from '../../../support/until.js';
import { ZooKeeperConsole } from './console.js';
import { ZooKeeperStores, aRequest, noEnd } from '../stores.js';

/** Sends no more than one beat during a test. */
const LONG_SESSION = { sessionTimeout: 60_000 };

describe('A ZooKeeper that refuses to delete for a while', () => {
  let zookeeper: ZooKeeperStores;
  let console: ZooKeeperConsole;
  let keys = 0;
  let key = '';

  beforeAll(async () => {
    zookeeper = await ZooKeeperStores.start();
    console = new ZooKeeperConsole(zookeeper.server.url);
  });

  beforeEach(async () => {
    key = `order-${(keys += 1)}`;
    const store = zookeeper.open();
    await (await store.tryAcquire(aRequest(key)))!.release(); // its line is there now
  });

  afterEach(() => zookeeper.closeAll());

  afterAll(async () => {
    await console[Symbol.asyncDispose]();
    await zookeeper[Symbol.asyncDispose]();
  });

  function remote() {
    return zookeeper.openRemote(LONG_SESSION);
  }

  function freeze(isFrozen = true, line = key): Promise<void> {
    return console.freeze(`/holdfast/${line}`, isFrozen);
  }

  /** Resolves when the server has answered something after it had sent so many bytes. */
  async function answered(seen: number): Promise<void> {
    await until(() => zookeeper.proxy.replies.bytes > seen);
  }

  it('has a release done as soon as it is allowed', async () => {
    const lease = (await remote().tryAcquire(aRequest(key)))!;
    await freeze();
    const seen = zookeeper.proxy.replies.bytes;
    const released = lease.release();
    await answered(seen);
    expect(await zookeeper.line(key)).toHaveLength(1);
    await freeze(false);
    expect(await inTime(10_000, released)).toBe(true);
    expect(await zookeeper.line(key)).toEqual([]);
  });

  it('has a release done that its caller has given up, who was told why', async () => {
    const locks = new LockService(remote());
    const told = new Promise<string>((resolve) => {
      locks.events.on('releaseFailed', ({ error }) => resolve(String(error)));
    });
    const lock = await locks.acquire(key);
    await freeze();
    const released = lock.release();
    expect(await inTime(20_000, told)).toContain('refused with NO_AUTH (-102)');
    expect(await released).toBe(false);
    await freeze(false);
    const next = zookeeper.open().acquire(aRequest(key), noEnd());
    expect(await (await inTime(10_000, next)).release()).toBe(true);
  });

  it('has a wait leave that was ended', async () => {
    const lease = (await zookeeper.open().tryAcquire(aRequest(key)))!;
    const end = new AbortController();
    const waiting = remote().acquire(aRequest(key), end.signal);
    const ended = expect(waiting).rejects.toThrow('enough');
    await zookeeper.standing(key, 2);
    await freeze();
    const seen = zookeeper.proxy.replies.bytes;
    end.abort(new Error('enough'));
    await answered(seen);
    await inTime(10_000, ended);
    expect(await zookeeper.line(key)).toHaveLength(2);
    await freeze(false);
    await zookeeper.standing(key, 1);
    expect(await lease.release()).toBe(true);
  });

  it('has an attempt leave that found the lock held', async () => {
    const lease = (await zookeeper.open().tryAcquire(aRequest(key)))!;
    await freeze();
    const attempt = remote().tryAcquire(aRequest(key));
    const failed = expect(attempt).rejects.toThrow('refused with NO_AUTH (-102)');
    await zookeeper.standing(key, 2);
    await inTime(10_000, failed);
    await freeze(false);
    await zookeeper.standing(key, 1);
    expect(await lease.release()).toBe(true);
  });

  it('has a creation taken back of which some nodes were found again', async () => {
    const other = `${key}-other`;
    const first = zookeeper.open();
    await (await first.tryAcquire({ ...aRequest(key), keys: [key, other] }))!.release();
    const store = remote();
    await store.inspect(key);
    zookeeper.proxy.replies.drop();
    const attempt = store.tryAcquire({ ...aRequest(key), keys: [key, other] });
    const failed = expect(attempt).rejects.toThrow('refused with NO_AUTH (-102)');
    await zookeeper.standing(other, 1);
    await zookeeper.remove(other, (await zookeeper.line(other))[0]!);
    await freeze();
    zookeeper.proxy.cutAll();
    zookeeper.proxy.pass();
    await inTime(10_000, failed);
    expect(await zookeeper.line(key)).toHaveLength(1);
    await freeze(false);
    await zookeeper.standing(key, 0);
  });

  it('has a lock told that it is lost when one of its nodes is gone, and the other goes later', async () => {
    const other = `${key}-other`;
    const store = zookeeper.open({ sessionTimeout: 10_000 });
    const lease = (await store.tryAcquire({ ...aRequest(key), keys: [key, other] }))!;
    await freeze();
    await zookeeper.remove(other, (await zookeeper.line(other))[0]!);
    await inTime(10_000, aborted(lease.lost!));
    expect(await zookeeper.line(key)).toHaveLength(1);
    await freeze(false);
    await zookeeper.standing(key, 0);
  });

  it('does not keep a store from closing', async () => {
    const store = remote();
    const lease = (await store.tryAcquire(aRequest(key)))!;
    await freeze();
    const seen = zookeeper.proxy.replies.bytes;
    const released = lease.release();
    await answered(seen);
    await inTime(10_000, store.close());
    expect(await inTime(10_000, released)).toBe(false); // the session has freed it
    await zookeeper.standing(key, 0);
  });
});
