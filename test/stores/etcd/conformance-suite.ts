import { EtcdLockStore } from 'nest-holdfast/etcd';
import { lockStoreConformance } from 'nest-holdfast/testing';
import { EtcdCluster } from '../../support/servers/etcd-server.js';

export function conformance(members: number): void {
  let cluster: EtcdCluster;

  beforeAll(async () => {
    cluster = await EtcdCluster.start(members);
  });

  afterAll(() => cluster?.stop());

  lockStoreConformance({
    test: it,
    lacks: ['ttl', 'fencingFloor', 'raiseFencing', 'extendMany', 'handOff', 'heldFor'],
    createStore: () => new EtcdLockStore({ hosts: cluster.urls }),
  });
}
