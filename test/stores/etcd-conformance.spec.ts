import { EtcdLockStore } from 'nest-holdfast/etcd';
import { lockStoreConformance } from 'nest-holdfast/testing';
import { EtcdCluster } from '../support/etcd-server.js';

describe.each([1, 3])('EtcdLockStore on %i members', (size) => {
  let cluster: EtcdCluster;

  beforeAll(async () => {
    cluster = await EtcdCluster.start(size);
  });

  afterAll(() => cluster?.stop());

  lockStoreConformance({
    test: it,
    createStore: () => new EtcdLockStore({ hosts: cluster.urls }),
  });
});
