import { isList } from '../../../core/contract/fields.js';
import { systemClock } from '../../../core/async/clock.js';
import type { Clock } from '../../../core/async/clock.js';
import { show } from '../../../core/options/option-values.js';
import { optionError } from '../../../core/options/option-error.js';
import {
  a,
  aBag,
  aClock,
  aSecret,
  aName,
  aString,
  aWhole,
  checkOptions,
  needed,
  secretly,
} from '../../../core/options/option-rules.js';
import type { OptionRules } from '../../../core/options/option-rules.js';
import { permissionBits } from './zookeeper-acl.js';
import type { ZooKeeperAcl } from './zookeeper-acl.js';

export interface ZooKeeperLockStoreOptions {
  /**
   * The node under which the locks are: `order:42` has its queue at `/holdfast/order%3A42`. It is made if it is missing.
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
  /** The identity of this process, for the ACLs: `{ scheme: 'digest', credential: 'user:password' }`. */
  readonly auth?: ZooKeeperAuth | undefined;
  /**
   * The permissions of the nodes that this store makes. `'open'`: all clients may do everything. `'creator'`: only clients with
   * the same `auth` may do anything.
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

const OPEN: ZooKeeperAcl = { scheme: 'world', id: 'anyone', permissions: 'all' };
const CREATOR: ZooKeeperAcl = { scheme: 'auth', id: '', permissions: 'all' };

const AUTH_RULES: OptionRules<ZooKeeperAuth> = {
  scheme: needed(aName),
  credential: needed(aSecret),
};

const ENTRY_RULES: OptionRules<ZooKeeperAcl> = {
  scheme: needed(aName),
  id: needed(aString),
  permissions: needed(
    a(
      "'all' or a list of 'read', 'write', 'create', 'delete' and 'admin'",
      (value) => permissionBits(value) !== undefined,
    ),
  ),
};

const anEntry = aBag(ENTRY_RULES, "{ scheme: 'world', id: 'anyone', permissions: 'all' }");
const anAcl = secretly(
  "'open', 'creator' or a list of { scheme, id, permissions }",
  (value) => value === 'open' || value === 'creator',
);

const RULES: OptionRules<ZooKeeperLockStoreOptions> = {
  root: a("a path such as '/holdfast', below ZooKeeper's own '/' and outside '/zookeeper'", isRoot),
  sessionTimeout: aWhole('ms', { from: 100 }),
  connectTimeout: aWhole('ms', { from: 1 }),
  auth: aBag(AUTH_RULES, "{ scheme: 'digest', credential: 'user:password' }"),
  acl: checkAcl,
  clock: aClock,
};

/** Throws `TypeError` or `RangeError` naming the option. */
export function resolveZooKeeperOptions(
  options: ZooKeeperLockStoreOptions,
): ResolvedZooKeeperOptions {
  checkOptions('ZooKeeperLockStore', options, RULES, "{ root: '/locks' }");
  const {
    root = '/holdfast',
    sessionTimeout = 15_000,
    connectTimeout = 4_000,
    auth,
    acl = auth ? 'creator' : 'open',
    clock = systemClock,
  } = options;
  if (auth) checkDigest(auth);
  if (acl === 'creator' && !auth)
    throw optionError("ZooKeeperLockStore: acl: 'creator' needs the option auth");
  return { root, sessionTimeout, connectTimeout, auth, acl: resolveAcl(acl), clock };
}

/** Throws `TypeError` for text that is not `host:port,host:port`. */
export function checkServers(servers: unknown): asserts servers is string {
  const isText = typeof servers === 'string' && servers.split(',').every(isServer);
  if (isText) return;
  const hint =
    typeof servers === 'string' && servers.includes('/') ? '; for a path, set the option root' : '';
  throw optionError(
    `ZooKeeperLockStore expects servers, 'host:2181,host:2181', got ${show(servers)}${hint}`,
  );
}

/** The client lets a port out of range end the process: its error has no listener. */
function isServer(text: string): boolean {
  const [, port = '2181'] = /^[^\s:/,]+(?::(\d{1,5}))?$/.exec(text) ?? [undefined, '0'];
  return Number(port) >= 1 && Number(port) <= 65_535;
}

function isRoot(root: unknown): boolean {
  if (typeof root !== 'string' || /^\/zookeeper(\/|$)/.test(root)) return false;
  return /^(\/[^/\s]+)+$/.test(root) && !/\/\.\.?(\/|$)/.test(root);
}

/** Names no credential in its message. */
function checkDigest({ scheme, credential }: ZooKeeperAuth): void {
  if (scheme !== 'digest' || /^[^:]+:./.test(credential)) return;
  throw optionError(
    "ZooKeeperLockStore: auth.credential must be 'user:password' for the scheme digest",
  );
}

function resolveAcl(acl: NonNullable<ZooKeeperLockStoreOptions['acl']>): readonly ZooKeeperAcl[] {
  if (acl === 'open') return [OPEN];
  return acl === 'creator' ? [CREATOR] : acl;
}

function checkAcl(name: string, acl: unknown): void {
  const entries = isList(acl) ? (acl as readonly unknown[]) : [];
  if (entries.length === 0) return anAcl(name, acl);
  entries.forEach((entry, index) => anEntry(`${name}[${index}]`, entry));
}
