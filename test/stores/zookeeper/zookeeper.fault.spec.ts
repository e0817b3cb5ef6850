import { ZooKeeperLockStore } from 'nest-holdfast/zookeeper';
import { ephemeralNodes } from './nodes/content.js';
import { ZooKeeperEnsemble, ZooKeeperServer } from '../../support/servers/zookeeper-server.js';
import { leaderFaults, storeFaults } from '../../support/faults/store-faults.js';

/** Long enough for a server to start again meanwhile. */
const SESSION_TIMEOUT = 4_000;

function openStore(ports: readonly number[], sessionTimeout: number) {
  const servers = ports.map((port) => `127.0.0.1:${port}`).join(',');
  return { store: new ZooKeeperLockStore(servers, { sessionTimeout }) };
}

describe('A ZooKeeper that is', () => {
  storeFaults<ZooKeeperServer>({
    startServer: () => ZooKeeperServer.start(),
    portsOf: ({ port }) => [port],
    openStore,
    life: SESSION_TIMEOUT,
    leftovers: ephemeralNodes,
  });
});

describe('A ZooKeeper of three loses', () => {
  leaderFaults<ZooKeeperEnsemble>({
    startServer: () => ZooKeeperEnsemble.start(3),
    portsOf: ({ ports }) => ports,
    openStore,
    life: SESSION_TIMEOUT,
    leftovers: async (ensemble) => ephemeralNodes(await ensemble.leader()),
    leader: (ensemble) => ensemble.leader(),
    electionLife: 10_000,
  });
});
