import { fieldsOf, isList as isAList } from '../../../core/contract/fields.js';
import { systemClock } from '../../../core/async/clock.js';
import type { Clock } from '../../../core/async/clock.js';
import { optionError } from '../../../core/options/option-error.js';
import { show } from '../../../core/options/option-values.js';
import {
  a,
  aBag,
  aClock,
  aSecret,
  anything,
  aString,
  aWhole,
  checkOptions,
  needed,
  secretly,
} from '../../../core/options/option-rules.js';
import type { OptionRules } from '../../../core/options/option-rules.js';
import { QUEUE_MARK } from '../keys/etcd-keys.js';

/** Where etcd is, and as which user to connect. */
export interface EtcdServers {
  /**
   * One or more members: `'127.0.0.1:2379'`, `'https://etcd-1:2379'`. The store uses one at a time, and the next when it fails.
   */
  readonly hosts: string | readonly string[];
  /** Missing: the server has no authentication. */
  readonly auth?: { readonly username: string; readonly password: string } | undefined;
  /** For TLS. Missing: the certificates that Node trusts, where the hosts begin with `https:`. */
  readonly credentials?: EtcdCredentials | undefined;
  /** Channel options of `@grpc/grpc-js`. */
  readonly grpcOptions?: Readonly<Record<string, string | number>> | undefined;
}

/** PEM. */
export interface EtcdCredentials {
  readonly rootCertificate: string | Uint8Array;
  /** With `certChain`, if the server asks clients for a certificate. */
  readonly privateKey?: string | Uint8Array | undefined;
  readonly certChain?: string | Uint8Array | undefined;
}

export interface EtcdLockStoreOptions {
  /**
   * The folder of every key: `order:42` is kept below `holdfast/order%3A42/`. May be empty, and may not contain `/@`. A `/` is
   * added where it does not end in one.
   * @default 'holdfast/'
   */
  readonly prefix?: string | undefined;
  /**
   * Milliseconds after which the server frees what this process holds, once it hears nothing more of it. etcd counts whole
   * seconds, so it is rounded up, and has a minimum of its own (2 seconds with its default election timeout). At least 1_000.
   * @default 10_000
   */
  readonly sessionTimeout?: number | undefined;
  /** For tests: a `FakeClock` from `nest-holdfast/testing`. */
  readonly clock?: Clock | undefined;
}

export interface ResolvedEtcdOptions {
  readonly prefix: string;
  readonly sessionTimeout: number;
  readonly clock: Clock;
}

const SHORTEST_SESSION = 1_000;
const LONGEST_SESSION = 86_400_000;

const withoutMark = a(
  `a string without '${QUEUE_MARK}'`,
  (prefix) => !(prefix as string).includes(QUEUE_MARK),
);

const RULES: OptionRules<EtcdLockStoreOptions> = {
  prefix: (name, value) => {
    aString(name, value);
    withoutMark(name, value);
  },
  sessionTimeout: aWhole('ms', { from: SHORTEST_SESSION, to: LONGEST_SESSION }),
  clock: aClock,
};

const aPem = secretly(
  'a string or bytes, in PEM',
  (value) => typeof value === 'string' || value instanceof Uint8Array,
);

const CREDENTIAL_RULES: OptionRules<EtcdCredentials> = {
  rootCertificate: needed(aPem),
  privateKey: aPem,
  certChain: aPem,
};

const SERVER_RULES: OptionRules<EtcdServers> = {
  hosts: anything, // and needed, so checked below
  auth: aBag({ username: needed(aString), password: needed(aSecret) }, '{ username, password }'),
  credentials: aBag(CREDENTIAL_RULES, '{ rootCertificate }'),
  grpcOptions: a('an object, of channel options of @grpc/grpc-js', isPlain),
};

/** Throws `TypeError` or `RangeError` naming the option. */
export function resolveEtcdOptions(options: EtcdLockStoreOptions): ResolvedEtcdOptions {
  checkOptions('EtcdLockStore', options, RULES, "{ prefix: 'app/' }");
  const { prefix = 'holdfast/', sessionTimeout = 10_000, clock = systemClock } = options;
  return { prefix, sessionTimeout, clock };
}

/** The hosts as a list. Throws `TypeError` for what names none. */
export function hostsOf(servers: EtcdServers): readonly string[] {
  const hosts: unknown = fieldsOf(servers)['hosts'];
  const list = typeof hosts === 'string' ? [hosts] : hosts;
  const isList = isAList(list) === true && (list as readonly unknown[]).length > 0;
  if (
    !isList ||
    !(list as readonly unknown[]).every((host) => typeof host === 'string' && host !== '')
  ) {
    throw optionError(
      `EtcdLockStore expects hosts, \`new EtcdLockStore({ hosts: '127.0.0.1:2379' })\`, got ${show(hosts)}`,
    );
  }
  checkOptions('EtcdLockStore', servers, SERVER_RULES, "{ hosts: '127.0.0.1:2379' }");
  return list as readonly string[];
}

function isPlain(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
