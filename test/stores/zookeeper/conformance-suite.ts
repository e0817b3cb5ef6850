import { type ConformanceFeature, lockStoreConformance } from 'nest-holdfast/testing';
import { ZooKeeperLockStore } from 'nest-holdfast/zookeeper';

const LACKED: readonly ConformanceFeature[] = [
  'ttl',
  'fencingFloor',
  'raiseFencing',
  'extendMany',
  'handOff',
];

interface Servers {
  readonly url: string;
  stop(): Promise<void>;
}

export function conformance(start: () => Promise<Servers>): void {
  let servers: Servers;

  beforeAll(async () => {
    servers = await start();
  });

  afterAll(() => servers.stop());

  lockStoreConformance({
    test: it,
    lacks: LACKED,
    createStore: () => new ZooKeeperLockStore(servers.url),
  });
}
