/** `nest-holdfast/etcd`. */
export { EtcdLockStore } from './etcd-lock.store.js';
export type {
  EtcdCredentials,
  EtcdLockStoreOptions,
  EtcdServers,
} from './client/etcd-lock-options.js';
