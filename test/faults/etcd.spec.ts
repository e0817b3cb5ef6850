import { EtcdLockStore } from 'nest-holdfast/etcd';
import { contentOf } from '../stores/etcd-content.js';
import { EtcdCluster } from '../support/etcd-server.js';
import { storeFaults } from './store-faults.js';

describe.each([1, 3])('An etcd of %i members that is', (size) => {
  storeFaults<EtcdCluster>({
    startServer: () => EtcdCluster.start(size),
    portsOf: ({ ports }) => ports,
    openStore: (ports) => {
      const hosts = ports.map((port) => `127.0.0.1:${port}`);
      return { store: new EtcdLockStore({ hosts }, { sessionTimeout: 1_000 }) };
    },
    life: 1_000,
    leftovers: ({ nodes }) => contentOf(nodes[0]!),
    ...(size > 1 && { leader: (cluster: EtcdCluster) => cluster.leader() }),
  });
});
