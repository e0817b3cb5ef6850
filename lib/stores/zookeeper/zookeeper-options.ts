import { systemClock } from '../../core/clock.js';
import type { Clock } from '../../core/clock.js';
import { show } from '../../core/option-values.js';
import { permissionBits } from './zookeeper-acl.js';
import type { ZooKeeperAcl } from './zookeeper-acl.js';

export interface ZooKeeperLockStoreOptions {
  /**
   * The node under which the locks are: `order:42` has its line at `/holdfast/order%3A42`. It is made if it is missing.
   * @default '/holdfast'
   */
  readonly root?: string | undefined;
  /**
   * Milliseconds after which the server frees the locks of a process that is dead or cut off. The server has bounds of its
   * own: by default 2 to 20 of its ticks, which are 4_000 to 40_000. At least 100.
   * @default 15_000
   */
  readonly sessionTimeout?: number | undefined;
  /**
   * Milliseconds that a call waits for a connection before it fails.
   * @default 4_000
   */
  readonly connectTimeout?: number | undefined;
  /** Who this process is, for the ACLs: `{ scheme: 'digest', credential: 'user:password' }`. */
  readonly auth?: ZooKeeperAuth | undefined;
  /**
   * Who may do what with the nodes that this store makes. `'open'`: everybody everything. `'creator'`: everything, for who
   * has the same `auth`, and nobody else anything.
   * @default 'creator' with `auth`, 'open' without
   */
  readonly acl?: 'open' | 'creator' | readonly ZooKeeperAcl[] | undefined;
  /** For tests: a `FakeClock` from `nest-holdfast/testing`. */
  readonly clock?: Clock | undefined;
}

export interface ZooKeeperAuth {
  /** `digest`, or a scheme that the servers have been given a plugin for. */
  readonly scheme: string;
  /** For `digest`: `user:password`. */
  readonly credential: string;
}

export interface ResolvedZooKeeperOptions {
  readonly root: string;
  readonly sessionTimeout: number;
  readonly connectTimeout: number;
  readonly auth: ZooKeeperAuth | undefined;
  readonly acl: readonly ZooKeeperAcl[];
  readonly clock: Clock;
}

const KNOWN = ['root', 'sessionTimeout', 'connectTimeout', 'auth', 'acl', 'clock'];
const OPEN: ZooKeeperAcl = { scheme: 'world', id: 'anyone', permissions: 'all' };
const CREATOR: ZooKeeperAcl = { scheme: 'auth', id: '', permissions: 'all' };
const LONGEST = 2_147_483_647;

/** Throws `TypeError` or `RangeError` naming the option. */
export function resolveZooKeeperOptions(
  options: ZooKeeperLockStoreOptions,
): ResolvedZooKeeperOptions {
  const unknown = Object.keys(options).find((name) => !KNOWN.includes(name));
  if (unknown !== undefined)
    throw new TypeError(`unknown option "${unknown}"; known options are ${KNOWN.join(', ')}`);
  const {
    root = '/holdfast',
    sessionTimeout = 15_000,
    connectTimeout = 4_000,
    auth,
    acl = auth ? 'creator' : 'open',
    clock = systemClock,
  } = options;
  checkRoot(root);
  checkMs('sessionTimeout', sessionTimeout, 100);
  checkMs('connectTimeout', connectTimeout, 1);
  if (auth !== undefined) checkAuth(auth);
  if (acl === 'creator' && !auth) throw new TypeError("acl: 'creator' needs the option auth");
  return { root, sessionTimeout, connectTimeout, auth, acl: resolveAcl(acl), clock };
}

/** Throws `TypeError` for what is not `host:port,host:port`. */
export function checkServers(servers: unknown): asserts servers is string {
  const isList =
    typeof servers === 'string' &&
    servers.split(',').every((each) => /^[^\s:/,]+(:\d{1,5})?$/.test(each));
  if (isList) return;
  const hint =
    typeof servers === 'string' && servers.includes('/') ? '; for a path, set the option root' : '';
  throw new TypeError(
    `ZooKeeperLockStore expects servers, 'host:2181,host:2181', got ${show(servers)}${hint}`,
  );
}

function checkRoot(root: unknown): void {
  if (typeof root !== 'string') throw new TypeError(`root must be a path, got ${show(root)}`);
  const isPath = /^(\/[^/\s]+)+$/.test(root) && !/\/\.\.?(\/|$)/.test(root);
  if (isPath && !/^\/zookeeper(\/|$)/.test(root)) return;
  throw new RangeError(
    `root must be a path such as '/holdfast', below ZooKeeper's own '/' and outside '/zookeeper', got ${show(root)}`,
  );
}

function checkMs(name: string, value: unknown, from: number): void {
  if (Number.isInteger(value) && (value as number) >= from && (value as number) <= LONGEST) return;
  throw new RangeError(
    `${name} must be a whole number of ms from ${from} to ${LONGEST}, got ${show(value)}`,
  );
}

/** Names no credential in its messages. */
function checkAuth(auth: Partial<ZooKeeperAuth>): void {
  const { scheme, credential } = auth ?? {};
  if (typeof scheme !== 'string' || scheme === '' || typeof credential !== 'string')
    throw new TypeError("auth must be { scheme: 'digest', credential: 'user:password' }");
  if (scheme === 'digest' && !/^[^:]+:./.test(credential))
    throw new TypeError("auth.credential must be 'user:password' for the scheme digest");
}

function resolveAcl(acl: unknown): readonly ZooKeeperAcl[] {
  if (acl === 'open') return [OPEN];
  if (acl === 'creator') return [CREATOR];
  if (Array.isArray(acl) && acl.length > 0 && acl.every(isAcl)) return acl;
  throw new TypeError(
    "acl must be 'open', 'creator' or a list of { scheme, id, permissions }, where permissions are 'all' or some of " +
      `'read', 'write', 'create', 'delete', 'admin'; got ${show(acl)}`,
  );
}

function isAcl(entry: unknown): boolean {
  const { scheme, id, permissions } = (entry ?? {}) as Partial<ZooKeeperAcl>;
  const isNamed = typeof scheme === 'string' && typeof id === 'string';
  return isNamed && permissionBits(permissions) !== undefined;
}
