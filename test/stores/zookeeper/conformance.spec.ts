import { lockStoreConformance } from 'nest-holdfast/testing';
import { ZooKeeperLockStore } from 'nest-holdfast/zookeeper';
import { TcpProxy } from '../../support/processes/tcp-proxy.js';
import { ZooKeeperServer } from '../../support/servers/zookeeper-server.js';
import { conformance } from './conformance-suite.js';

/** A machine that stands still for two seconds loses no session. */
const SESSION = 4_000;

describe('ZooKeeperLockStore on one server', () => {
  conformance(() => ZooKeeperServer.shared());
});

describe('ZooKeeperLockStore behind a network that fails', () => {
  let server: ZooKeeperServer;
  const proxies = new Map<unknown, TcpProxy>();

  beforeAll(async () => {
    server = await ZooKeeperServer.shared();
  });

  afterAll(async () => {
    await Promise.all([...proxies.values()].map((proxy) => proxy.stop()));
    await server.stop();
  });

  lockStoreConformance({
    test: (name, run) => (/session|doubt/.test(name) ? it(name, run) : undefined),
    createStore: async () => {
      const proxy = await TcpProxy.start(server.port);
      const store = new ZooKeeperLockStore(`127.0.0.1:${proxy.port}`, { sessionTimeout: SESSION });
      proxies.set(store, proxy);
      return store;
    },
    endSession: (store) => {
      proxies.get(store)!.refuse();
      proxies.get(store)!.cutAll();
    },
    disconnect: (store) => proxies.get(store)!.cutAll(),
  });
});
