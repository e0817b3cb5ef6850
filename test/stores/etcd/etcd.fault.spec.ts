import { EtcdLockStore } from 'nest-holdfast/etcd';
import { contentOf } from './queue/content.js';
import { EtcdServer } from '../../support/servers/etcd-server.js';
import { storeFaults } from '../../support/faults/store-faults.js';

const LIFE = 4_000;

describe('An etcd that is', () => {
  storeFaults<EtcdServer>({
    startServer: () => EtcdServer.start(),
    portsOf: ({ port }) => [port],
    openStore: (ports) => {
      const hosts = ports.map((port) => `127.0.0.1:${port}`);
      return { store: new EtcdLockStore({ hosts }, { sessionTimeout: LIFE }) };
    },
    life: LIFE,
    leftovers: contentOf,
  });
});
