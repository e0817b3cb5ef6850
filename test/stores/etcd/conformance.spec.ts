import { EtcdLockStore } from 'nest-holdfast/etcd';
import { lockStoreConformance } from 'nest-holdfast/testing';
import { EtcdCluster, EtcdServer } from '../../support/servers/etcd-server.js';
import { TcpProxy } from '../../support/processes/tcp-proxy.js';
import { contentOf } from './queue/content.js';

/** A machine that stands still for two seconds loses no session. */
const SESSION = 6_000;

describe.each([1, 3])('EtcdLockStore on %i members', (size) => {
  let cluster: EtcdCluster;

  beforeAll(async () => {
    cluster = await EtcdCluster.start(size);
  });

  afterAll(() => cluster?.stop());

  lockStoreConformance({
    test: it,
    lacks: ['ttl', 'fencingFloor', 'raiseFencing', 'extendMany', 'handOff', 'heldFor'],
    createStore: () => new EtcdLockStore({ hosts: cluster.urls }),
  });
});

describe('EtcdLockStore behind a network that fails', () => {
  let server: EtcdServer;
  const proxies = new Map<unknown, TcpProxy>();

  beforeAll(async () => {
    server = await EtcdServer.start();
  });

  afterAll(async () => {
    await Promise.all([...proxies.values()].map((proxy) => proxy.stop()));
    await server.remove();
  });

  lockStoreConformance({
    test: (name, run) => (/session|doubt/.test(name) ? it(name, run) : undefined),
    createStore: async () => {
      const proxy = await TcpProxy.start(Number(new URL(server.url).port));
      const hosts = `http://127.0.0.1:${proxy.port}`;
      const store = new EtcdLockStore({ hosts }, { sessionTimeout: SESSION });
      store.observe(() => void proxy.accept());
      proxies.set(store, proxy);
      return store;
    },
    endSession: async () => {
      const [oldest] = await contentOf(server); // the first that was taken is of the store that is meant
      await server.ask('/v3/lease/revoke', { ID: oldest!.lease });
    },
    disconnect: (store) => {
      proxies.get(store)!.refuse(); // until it tells
      proxies.get(store)!.cutAll();
    },
  });
});
