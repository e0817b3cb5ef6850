// The resolution of "module": "commonjs" does not know "exports"; it finds these through "typesVersions".
import { MemoryLockStore } from 'nest-holdfast/core';
import { EtcdLockStore } from 'nest-holdfast/etcd';
import { lockRequest } from 'nest-holdfast/express';
import { FencingGate } from 'nest-holdfast/fencing';
import { RedlockStore } from 'nest-holdfast/redlock';
import { SqlLockStore } from 'nest-holdfast/sql';
import { FakeClock } from 'nest-holdfast/testing';
import { ZooKeeperLockStore } from 'nest-holdfast/zookeeper';

export const stores = [
  EtcdLockStore,
  MemoryLockStore,
  RedlockStore,
  SqlLockStore,
  ZooKeeperLockStore,
];
export const others = [FakeClock, FencingGate, lockRequest];
