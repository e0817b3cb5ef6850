import { KVClient } from 'etcd3';
import { EtcdLockStore } from 'nest-holdfast/etcd';
import { systemClock } from '../../../../lib/core/async/clock.js';
import { EtcdMembers } from '../../../../lib/stores/etcd/client/etcd-members.js';
import { openClient } from '../../../../lib/stores/etcd/client/open-client.js';
import { inTime } from '../../../support/faults/in-time.js';
import { EtcdServer } from '../../../support/servers/etcd-server.js';
import { until } from '../../../support/until.js';
import { contentOf } from '../queue/content.js';
import { never, requestFor } from './requests.js';

const TOO_MANY = '8 RESOURCE_EXHAUSTED: etcdserver: too many requests';
const NO_SPACE = '8 RESOURCE_EXHAUSTED: etcdserver: mvcc: database space exceeded';
const BROKEN_OFF = '8 RESOURCE_EXHAUSTED: Bandwidth exhausted or memory limit exceeded';
const DENIED = '7 PERMISSION_DENIED: etcdserver: permission denied';
const NO_SUCH_CALL = '12 UNIMPLEMENTED: unknown service etcdserverpb.KV';

type Txn = KVClient['txn'];

describe('an EtcdLockStore that is refused something', () => {
  let server: EtcdServer;
  let store: EtcdLockStore;
  let other: EtcdLockStore;

  beforeAll(async () => {
    server = await EtcdServer.shared();
  });

  afterAll(() => server?.remove());

  beforeEach(() => {
    [store, other] = [1, 2].map(() => open()) as [EtcdLockStore, EtcdLockStore];
  });

  afterEach(async () => {
    jest.restoreAllMocks();
    await Promise.all([store.close(), other.close()]);
  });

  function open(): EtcdLockStore {
    return new EtcdLockStore({ hosts: server.url }, { sessionTimeout: 3_000 });
  }

  /** Each of the next transactions fails with `message`. `isDone`: after it has been done. */
  function refuse(times: number, message: string, isDone = false): void {
    const txn: Txn = Reflect.get(KVClient.prototype, 'txn');
    let refused = 0;
    const stub: Txn = async function (this: KVClient, ...args) {
      const isRefused = refused < times;
      if (isRefused) refused += 1;
      if (!isRefused || isDone) {
        const answer = await txn.apply(this, args);
        if (!isRefused) return answer;
      }
      throw new Error(message);
    };
    jest.spyOn(KVClient.prototype, 'txn').mockImplementation(stub);
  }

  async function nodes(): Promise<number> {
    const entries = await contentOf(server);
    return entries.filter(({ key }) => !key.includes('%session')).length;
  }

  it.each([TOO_MANY, BROKEN_OFF, DENIED, NO_SUCH_CALL])(
    'goes on with a release until it is done: %s',
    async (message) => {
      const lease = await store.tryAcquire(requestFor('key'));
      refuse(2, message);
      expect(await lease!.release()).toBe(true);
      expect(await nodes()).toBe(0);
    },
  );

  it.each([TOO_MANY, DENIED])(
    'leaves the place of a wait that is given up: %s',
    async (message) => {
      const lease = await other.tryAcquire(requestFor('key'));
      const stop = new AbortController();
      const waiting = store.acquire(requestFor('key'), stop.signal);
      await until(async () => (await nodes()) === 2);
      refuse(2, message);
      stop.abort(new Error('enough'));
      await expect(waiting).rejects.toThrow('enough');
      await until(async () => (await nodes()) === 1);
      expect(await lease!.release()).toBe(true);
    },
  );

  it.each([BROKEN_OFF, NO_SPACE])('undoes what was done all the same: %s', async (message) => {
    refuse(1, message, true);
    const lease = await store.tryAcquire(requestFor('key'));
    expect(await nodes()).toBe(1);
    expect(await lease!.release()).toBe(true);
    expect(await nodes()).toBe(0);
  });

  it('does not wait in vain for an etcd that is out of space', async () => {
    refuse(Infinity, NO_SPACE);
    const waiting = store.acquire(requestFor('key'), never());
    await expect(inTime(4_000, waiting)).rejects.toThrow('space exceeded');
  });

  it('asks the next member when no client can be made for one', async () => {
    jest.spyOn(Math, 'random').mockReturnValue(0); // begins with the first
    const connect = async (host: string) => {
      if (host !== server.url) throw new Error(`no client for ${host}`);
      return openClient(host, { hosts: host }, 1_000);
    };
    const members = new EtcdMembers(['nowhere', server.url], connect, systemClock, 1_000);
    const txn = { compare: [], success: [], failure: [] };
    const answer = await members.ask(({ kv }, options) => kv.txn(txn, options));
    expect(answer.succeeded).toBe(true);
    await members.close();
  });
});
