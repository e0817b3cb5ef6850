import { EtcdLockStore } from '../../stores/etcd/index.js';
import { ZooKeeperLockStore } from '../../stores/zookeeper/index.js';
import { checkClient } from './load-client.js';
import type { OpenedStore, StoreSettings } from './opened-store.js';
import { parseServers } from './store-url.js';

const ETCD_SESSION = 10_000;
const ZOOKEEPER_SESSION = 15_000;
const nothingToClose = async () => {};

/** `etcd://user:password@host:2379,host:2379`; `etcds:` with TLS. */
export function openEtcd(url: string, { prefix, ttl }: StoreSettings): OpenedStore {
  checkClient('etcd3');
  const { hosts, user } = parseServers(url);
  const scheme = url.toLowerCase().startsWith('etcds:') ? 'https' : 'http';
  const auth = user && { username: user.name, password: user.password };
  const sessionTimeout = Math.max(ttl ?? ETCD_SESSION, 1_000);
  const servers = { hosts: hosts.map((host) => `${scheme}://${host}`), ...(auth && { auth }) };
  const options = { sessionTimeout, ...(prefix !== undefined && { prefix }) };
  return { store: new EtcdLockStore(servers, options), sessionTimeout, close: nothingToClose };
}

/** `zookeeper://user:password@host:2181,host:2181/root`. */
export function openZooKeeper(url: string, { prefix, ttl }: StoreSettings): OpenedStore {
  checkClient('node-zookeeper-client');
  const { hosts, user, path } = parseServers(url);
  const root = prefix ?? (path === '' ? undefined : path);
  const credential = user && `${user.name}:${user.password}`;
  const sessionTimeout = ttl ?? ZOOKEEPER_SESSION;
  const store = new ZooKeeperLockStore(hosts.join(','), {
    sessionTimeout,
    ...(root !== undefined && { root }),
    ...(credential !== undefined && { auth: { scheme: 'digest', credential } }),
  });
  return { store, sessionTimeout, close: nothingToClose };
}
