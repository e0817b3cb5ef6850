/** `nest-holdfast/etcd`. */
export { EtcdLockStore } from './etcd-lock.store.js';
export type { EtcdCredentials, EtcdLockStoreOptions, EtcdServers } from './etcd-lock-options.js';
