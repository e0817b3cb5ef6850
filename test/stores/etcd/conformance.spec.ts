import { EtcdLockStore } from 'nest-holdfast/etcd';
import { lockStoreConformance } from 'nest-holdfast/testing';
import { EtcdServer } from '../../support/servers/etcd-server.js';
import { TcpProxy } from '../../support/processes/tcp-proxy.js';
import { conformance } from './conformance-suite.js';
import { contentOf } from './queue/content.js';

/** A machine that stands still for two seconds loses no session. */
const SESSION = 6_000;

describe('EtcdLockStore on one member', () => {
  conformance(1);
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
