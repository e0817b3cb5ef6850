import type { ZooKeeperDriver } from './zookeeper-client.js';

export type ZooKeeperPermission = 'read' | 'write' | 'create' | 'delete' | 'admin';

/** One entry of an access control list, `{ scheme: 'digest', id: 'user:<hash>', permissions: ['read'] }` say. */
export interface ZooKeeperAcl {
  /** `world`, `auth`, `digest`, `ip`, … */
  readonly scheme: string;
  /** The id that the scheme needs: `anyone` for `world`, nothing for `auth`. */
  readonly id: string;
  readonly permissions: 'all' | readonly ZooKeeperPermission[];
}

const BITS: Readonly<Record<ZooKeeperPermission, number>> = {
  read: 1,
  write: 2,
  create: 4,
  delete: 8,
  admin: 16,
};
const ALL = 31;

/** `undefined` for a value that is no list of permissions. */
export function permissionBits(permissions: unknown): number | undefined {
  if (permissions === 'all') return ALL;
  if (!Array.isArray(permissions) || permissions.length === 0) return undefined;
  const bits = permissions.map((name: unknown) =>
    typeof name === 'string' && Object.hasOwn(BITS, name) ? BITS[name as ZooKeeperPermission] : 0,
  );
  return bits.includes(0) ? undefined : bits.reduce((all, bit) => all | bit, 0);
}

/** In the client's form. */
export function clientAcls(acls: readonly ZooKeeperAcl[], driver: ZooKeeperDriver): object[] {
  return acls.map(
    ({ scheme, id, permissions }) =>
      new driver.ACL(permissionBits(permissions)!, new driver.Id(scheme, id)),
  );
}
