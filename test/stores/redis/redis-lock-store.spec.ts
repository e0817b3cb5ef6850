import { EventEmitter } from 'node:events';
import { type AcquireRequest, RedisLockStore, type RedisLockStoreOptions } from 'nest-holdfast';
import type { StoreNotice } from '../../../lib/core/contract/lock-store.js';
import { aRequest } from './locks.js';

/** A client that takes every lock, on which scripts are counted. */
class FakeClient extends EventEmitter {
  readonly options: object = { protocol: 3, autoResubscribe: false };
  /** The numbers of keys of the scripts. */
  readonly sent: number[] = [];
  channel = '';
  replies: unknown[] = [];
  readonly eval = async (_script: string, count: number) => {
    this.sent.push(count);
    const reply = this.replies.length > 0 ? this.replies.shift() : 17;
    if (reply instanceof Error) throw reply;
    return reply;
  };
  readonly evalsha = this.eval;
  readonly wait = async () => 1;
}

/** One that can subscribe, on its own connection. */
class FakeSubscriber extends FakeClient {
  readonly subscribe = async (channel: string) => void (this.channel = channel);
  readonly unsubscribe = async () => undefined;
  readonly duplicate = () => this;
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('A store on a client', () => {
  let client: FakeClient;
  let store: RedisLockStore;
  let told: StoreNotice[];

  beforeEach(() => {
    told = [];
  });

  afterEach(() => store.close());

  function storeOn(own: FakeClient, options: RedisLockStoreOptions = {}): void {
    client = own;
    store = new RedisLockStore(own, options);
  }

  it('that cannot subscribe has no queue', async () => {
    storeOn(new FakeClient());
    expect(store.acquire).toBeUndefined();
    expect(store.supports.semaphores).toBe('polled');
    const lease = (await store.tryAcquire(aRequest('a')))!;
    expect(lease.fencingToken).toBe(17n);
    expect(store.waitFailure(aRequest('a'))).toBeUndefined();
    expect(() => store.beforeDeadline(aRequest('a'))).not.toThrow();
  });

  it('that cannot list has no list, and that is no Cluster extends many at once', () => {
    storeOn(new FakeClient());
    expect([store.list, typeof store.extendMany]).toEqual([undefined, 'function']);
  });

  it('tells of evictions that a message brings', async () => {
    storeOn(new FakeSubscriber());
    store.observe((notice) => told.push(notice));
    const lease = (await store.tryAcquire(aRequest('a')))!;
    void lease.extend(30_000).catch(() => {}); // it listens from now on
    await settled();
    client.emit('message', client.channel, '- 17 500 lock:a');
    expect(told).toEqual([{ type: 'revoked', key: 'a', upTo: 17n, grace: 500 }]);
  });

  it('knows why the server has not answered a waiter', async () => {
    storeOn(new FakeSubscriber());
    const request = aRequest('a');
    const stopper = new AbortController();
    client.replies = [[[0, 600_000, 0]], new Error('down'), null];
    const waiting = store.acquire!(request, stopper.signal);
    await settled();
    expect(store.waitFailure(request)).toBeUndefined();
    store.beforeDeadline(request);
    await settled();
    expect(store.waitFailure(request)).toMatchObject({ message: 'down' });
    stopper.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
  });

  it('checks its server until it is closed', async () => {
    const info = async () => 'run_id:a\r\nmaxmemory_policy:allkeys-lru\r\n';
    storeOn(Object.assign(new FakeSubscriber(), { status: 'ready', info, time: async () => [1, 0] }), { serverChecks: true }); // prettier-ignore
    const codes: string[] = [];
    store.checkServers!(({ code }) => codes.push(code));
    await settled();
    expect(codes).toContain('HOLDFAST_REDIS_EVICTION');
    expect(client.listenerCount('ready')).toBeGreaterThan(0);
    await store.close();
    expect(client.listenerCount('ready')).toBe(0);
  });

  it('of a quorum tells of evictions, and of nothing else', () => {
    storeOn(new FakeSubscriber());
    store.joinQuorum();
    store.observe((notice) => told.push(notice));
    expect(client.eventNames()).not.toContain('close');
  });

  const attempt = (keys: string | string[], more: Partial<AcquireRequest> = {}) =>
    store.tryAcquire({ ...aRequest(keys), ...more });

  it('in strict order has one attempt for a key at a time, and any number for several keys', async () => {
    storeOn(new FakeSubscriber(), { localPassLimit: 0 });
    const one = [attempt('a'), attempt('a')];
    expect(client.sent).toEqual([3]);
    await Promise.all(one);
    expect(client.sent).toEqual([3]);
    const several = [attempt(['a', 'b']), attempt(['a', 'b'])];
    await Promise.all(several);
    expect(client.sent.slice(1)).toEqual([6, 6]);
  });

  it('without strict order asks for each', async () => {
    storeOn(new FakeSubscriber());
    await Promise.all([attempt('a'), attempt('a')]);
    expect(client.sent).toEqual([3, 3]);
  });

  it('names the key of several that was refused, and none of one', async () => {
    storeOn(new FakeSubscriber());
    const [several, one] = [aRequest(['a', 'b']), aRequest('a')];
    client.replies = [-2];
    expect(await store.tryAcquire(several)).toBeUndefined();
    expect([store.refusedKey(several), store.refusedKey(one)]).toEqual(['b', undefined]);
  });
});
