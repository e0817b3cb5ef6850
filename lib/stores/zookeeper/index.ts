/** `nest-holdfast/zookeeper`. */
export { ZooKeeperLockStore } from './zookeeper-lock.store.js';
export type { ZooKeeperAcl, ZooKeeperPermission } from './zookeeper-acl.js';
export type { ZooKeeperAuth, ZooKeeperLockStoreOptions } from './zookeeper-options.js';
