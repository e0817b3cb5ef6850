import { RedisLockStore } from 'nest-holdfast';
import { nothingLeft } from '../../../support/faults/left-behind.js';
import { startReplica } from '../../../support/servers/redis-replica.js';
import { RedisServer } from '../../../support/servers/redis-server.js';
import { TcpProxy } from '../../../support/processes/tcp-proxy.js';
import { until } from '../../../support/until.js';
import { OwnClient, aRequest } from '../locks.js';

const KEYS = Array.from({ length: 50 }, (_, index) => `order:${index}`);

/** A store that has found out that many want something in one turn. */
async function busyStore(client: OwnClient, options = {}): Promise<RedisLockStore> {
  const store = new RedisLockStore(client.redis, options);
  const leases = await Promise.all(KEYS.map((key) => store.tryAcquire(aRequest(key))));
  await Promise.all(leases.map((lease) => lease!.release()));
  return store;
}

describe('What is wanted of a RedisLockStore in one turn', () => {
  let server: RedisServer;
  let client: OwnClient;

  beforeAll(async () => {
    server = await RedisServer.start();
  });

  beforeEach(async () => {
    await server.command('FLUSHALL');
    client = new OwnClient(server.url);
  });

  afterEach(() => client[Symbol.asyncDispose]());

  afterAll(() => server.stop());

  it('leaves in few commands, the first of which is small', async () => {
    const store = await busyStore(client);
    const sent = jest.spyOn(client.redis, 'evalsha');
    const leases = await Promise.all(KEYS.map((key) => store.tryAcquire(aRequest(key))));
    expect(sent.mock.calls.map(([, keyCount]) => Number(keyCount) / 3)).toEqual([4, 8, 16, 22]);
    await Promise.all(leases.map((lease) => lease!.release()));
    await nothingLeft(server);
  });

  it('leaves at once where it is alone, also after a busy turn', async () => {
    const store = await busyStore(client);
    const sent = jest.spyOn(client.redis, 'evalsha');
    await (await store.tryAcquire(aRequest('a')))!.release();
    sent.mockClear();
    const attempt = store.tryAcquire(aRequest('a'));
    expect(sent).toHaveBeenCalledTimes(1);
    await (await attempt)!.release();
  });

  it('has an answer each: granted, held, or an error of its own', async () => {
    const store = await busyStore(client);
    await server.command('SET', 'lock:order:3', 'their-token');
    await server.command('RPUSH', 'lock:order:7', 'no lock');
    const attempts = KEYS.map((key) => store.tryAcquire(aRequest(key)));
    const outcomes = await Promise.allSettled(attempts);
    const kinds = outcomes.map((each) => {
      return each.status === 'rejected' ? String(each.reason) : each.value ? 'granted' : 'held';
    });
    expect(kinds[3]).toBe('held');
    expect(kinds[7]).toMatch(/WRONGTYPE/);
    expect(kinds.filter((kind) => kind === 'granted')).toHaveLength(KEYS.length - 2);
    const tokens = await server.command('MGET', 'lock:order:3', 'lock:order:2');
    expect(tokens).toEqual(['their-token', expect.stringContaining('test:1:2')]);
  });

  it('is done for the others where the server forbids one key', async () => {
    const keys = ['~lock:order:*', '~{lock:order:*', '~{lock:mark:*'];
    await server.command('ACL', 'SETUSER', 'locks', 'on', '>pw', ...keys, '&*', '+@all');
    await using limited = new OwnClient(server.url, { username: 'locks', password: 'pw' });
    const store = await busyStore(limited);
    const held = await Promise.all(['order:a', 'order:b'].map((key) => store.tryAcquire(aRequest(key)))); // prettier-ignore
    await busyStore(limited);
    const outcomes = await Promise.allSettled([
      store.tryAcquire(aRequest('forbidden')),
      ...held.map((lease) => lease!.release()),
      store.tryAcquire(aRequest('order:c')),
    ]);
    expect(outcomes).toEqual([
      { status: 'rejected', reason: expect.objectContaining({ message: expect.stringContaining('NOPERM') }) }, // prettier-ignore
      { status: 'fulfilled', value: true },
      { status: 'fulfilled', value: true },
      { status: 'fulfilled', value: expect.objectContaining({ fencingToken: expect.any(BigInt) }) },
    ]);
    expect(await server.command('EXISTS', 'lock:order:a', 'lock:order:b', 'lock:order:c')).toBe(1);
    await server.command('ACL', 'DELUSER', 'locks');
  });

  it('is done in its order: what is given back can be had, and looked at', async () => {
    const store = await busyStore(client);
    const [first, second] = await Promise.all(
      ['a', 'b'].map((key) => store.tryAcquire(aRequest(key))),
    );
    const released = [first!.release(), second!.release()];
    const again = store.tryAcquire(aRequest('a'));
    const free = store.inspect('b');
    const several = store.tryAcquire(aRequest(['a', 'b']));
    expect(await Promise.all(released)).toEqual([true, true]);
    expect(await free).toBeUndefined();
    expect(await several).toBeUndefined();
    expect((await again)!.fencingToken).toBeGreaterThan(first!.fencingToken!);
  });

  it('is freed, and refused, where there is no memory for more', async () => {
    const store = await busyStore(client);
    const leases = await Promise.all(['a', 'b'].map((key) => store.tryAcquire(aRequest(key))));
    await server.command('CONFIG', 'SET', 'maxmemory', '1');
    const refused = expect(store.tryAcquire(aRequest('c'))).rejects.toThrow(/OOM/);
    const released = leases.map((lease) => lease!.release());
    expect(await Promise.all(released)).toEqual([true, true]);
    await refused;
    await server.command('CONFIG', 'SET', 'maxmemory', '0');
    await nothingLeft(server);
  });

  it('is sent in full where the server has forgotten the script', async () => {
    const store = await busyStore(client);
    await server.command('SCRIPT', 'FLUSH');
    const leases = await Promise.all(KEYS.map((key) => store.tryAcquire(aRequest(key))));
    await server.command('SCRIPT', 'FLUSH');
    expect(await Promise.all(leases.map((lease) => lease!.release()))).toEqual(
      KEYS.map(() => true),
    );
  });

  it('is sent before the store is closed', async () => {
    const store = await busyStore(client);
    const leases = await Promise.all(['a', 'b'].map((key) => store.tryAcquire(aRequest(key))));
    const released = leases.map((lease) => lease!.release());
    await store.close();
    await client.redis.quit();
    expect(await Promise.all(released)).toEqual([true, true]);
  });

  it('is the same for clients that make strings of numbers, and add a prefix', async () => {
    await using other = new OwnClient(server.url, { stringNumbers: true, keyPrefix: 'app:' });
    const store = await busyStore(other);
    const leases = await Promise.all(['a', 'b', 'a'].map((key) => store.tryAcquire(aRequest(key))));
    expect(leases[0]!.fencingToken).toBeGreaterThan(1n);
    expect(leases[2]).toBeUndefined();
    expect(await leases[1]!.release()).toBe(true);
    expect(await server.command('EXISTS', 'app:lock:a', 'app:lock:b')).toBe(1);
  });

  it('fails for each of them where the client throws', async () => {
    const store = await busyStore(client);
    jest.spyOn(client.redis, 'evalsha').mockImplementation(() => {
      throw new Error('no');
    });
    const attempts = KEYS.map((key) => store.tryAcquire(aRequest(key)));
    const outcomes = await Promise.allSettled(attempts);
    expect(outcomes.map(({ status }) => status)).toEqual(KEYS.map(() => 'rejected'));
  });

  it('fails together with its connection, and is taken back', async () => {
    await using proxy = await TcpProxy.start(server.port);
    await using behind = new OwnClient(proxy.url, { maxRetriesPerRequest: 0 });
    const store = await busyStore(behind);
    proxy.replies.drop();
    const attempts = Promise.allSettled(KEYS.map((key) => store.tryAcquire(aRequest(key))));
    await until(
      async () => (await client.redis.exists(...KEYS.map((key) => `lock:${key}`))) === 50,
    );
    proxy.pass();
    proxy.cutAll();
    expect((await attempts).map(({ status }) => status)).toEqual(KEYS.map(() => 'rejected'));
    await nothingLeft(server);
  });
});

describe('What is wanted in one turn of a store whose replicas must have it', () => {
  let master: RedisServer;
  let replica: RedisServer;

  beforeEach(async () => {
    master = await RedisServer.start();
    replica = await startReplica(master);
  });

  afterEach(() => Promise.all([master.stop(), replica.stop()]));

  it('waits for them only where it is granted', async () => {
    await using client = new OwnClient(master.url);
    await until(async () => (await client.redis.set('up', '1')) && (await client.redis.wait(1, 100)) === 1); // prettier-ignore
    const store = await busyStore(client, { replicas: 1, replicaTimeout: 300 });
    await master.command('SET', 'lock:held', 'their-token');
    const lease = (await store.tryAcquire(aRequest('mine')))!;
    replica.pause();
    const granted = store.tryAcquire(aRequest('free'));
    const refused = store.tryAcquire(aRequest('held'));
    const released = lease.release();
    const first = await Promise.race([
      granted.catch(() => 'failed'),
      released.then(() => 'released'),
    ]);
    expect(first).toBe('released');
    expect(await refused).toBeUndefined();
    await expect(granted).rejects.toThrow('0 of 1 replicas acknowledged');
    await until(async () => (await client.redis.exists('lock:free')) === 0);
    replica.resume();
  });

  it('is refused as a whole by a replica, in words that the client knows', async () => {
    await using client = new OwnClient(replica.url);
    const reconnects: string[] = [];
    client.redis.options.reconnectOnError = ({ message }) => (reconnects.push(message), false);
    const store = new RedisLockStore(client.redis);
    const attempts = KEYS.map((key) => store.tryAcquire(aRequest(key)));
    for (const each of await Promise.allSettled(attempts)) {
      expect(each).toMatchObject({ reason: { message: expect.stringMatching(/^READONLY/) } });
    }
    expect(reconnects).toContainEqual(expect.stringMatching(/^READONLY/));
  });
});
