/** `nest-holdfast/zookeeper`. */
export { ZooKeeperLockStore } from './zookeeper-lock.store.js';
export type { ZooKeeperAcl, ZooKeeperPermission } from './client/zookeeper-acl.js';
export type { ZooKeeperAuth, ZooKeeperLockStoreOptions } from './client/zookeeper-options.js';
