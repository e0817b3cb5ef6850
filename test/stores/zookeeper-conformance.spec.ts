import { lockStoreConformance } from 'nest-holdfast/testing';
import { ZooKeeperLockStore } from 'nest-holdfast/zookeeper';
import { ZooKeeperEnsemble, ZooKeeperServer } from '../support/zookeeper-server.js';

describe('ZooKeeperLockStore on one server', () => {
  let server: ZooKeeperServer;

  beforeAll(async () => {
    server = await ZooKeeperServer.shared();
  });

  afterAll(() => server.stop());

  lockStoreConformance({ test: it, createStore: () => new ZooKeeperLockStore(server.url) });
});

describe('ZooKeeperLockStore on an ensemble of three', () => {
  let ensemble: ZooKeeperEnsemble;

  beforeAll(async () => {
    ensemble = await ZooKeeperEnsemble.start(3);
  });

  afterAll(() => ensemble.stop());

  lockStoreConformance({ test: it, createStore: () => new ZooKeeperLockStore(ensemble.url) });
});
