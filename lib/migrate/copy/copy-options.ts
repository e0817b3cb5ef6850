import { a, aFunction, aName, aString, aWhole, anAbortSignal, checkOptions, needed } from '../../core/options/option-rules.js'; // prettier-ignore
import type { OptionRules } from '../../core/options/option-rules.js';
import type { RedisAdmin } from './admin-client.js';

/** In their order. */
export type RedisCopyStep = 'check' | 'close' | 'copy' | 'open' | 'move' | 'retire';

/** The servers of a copy, and the keys. */
export interface RedisCopyServers {
  /** The server that is left: a connection of an administrator, and not of `user`. */
  readonly from: RedisAdmin;
  /** The server that is moved to, without any of these locks. `user` is there, switched off, and no client is connected by it. */
  readonly to: RedisAdmin;
  /** The ACL user by which every application takes these locks, on both servers. */
  readonly user: string;
  /** @default 'lock:' */
  readonly keyPrefix?: string | undefined;
  /** The `keyPrefix` of the applications' clients. @default '' */
  readonly clientPrefix?: string | undefined;
}

export interface RedisCopyOptions extends RedisCopyServers {
  /**
   * Milliseconds from the close of `from` to the opening of `to`. A copy that takes longer is undone. At most two thirds of the
   * smallest ttl: no lock can be extended meanwhile.
   * @default 20_000
   */
  readonly within?: number | undefined;
  /**
   * Called once `to` is open: lets the applications reach it, by their DNS name or address. Their connections to `from` are ended
   * after it.
   */
  readonly move: () => Promise<void> | void;
  /** Called before each step. */
  readonly onStep?: ((step: RedisCopyStep) => Promise<void> | void) | undefined;
  /** Undoes the copy, as long as `to` is not open. */
  readonly signal?: AbortSignal | undefined;
}

export interface ResolvedServers extends RedisCopyServers {
  readonly keyPrefix: string;
  readonly clientPrefix: string;
}

export interface ResolvedCopy extends RedisCopyOptions, ResolvedServers {
  readonly keyPrefix: string;
  readonly clientPrefix: string;
  readonly within: number;
}

const anAdmin = a('a client of ioredis, with call()', (value) => {
  return typeof (value as Partial<RedisAdmin> | null)?.call === 'function';
});

const SERVERS: OptionRules<RedisCopyServers> = {
  from: needed(anAdmin),
  to: needed(anAdmin),
  user: needed(aName),
  keyPrefix: a('a string that is not empty: no other name tells a lock from other data', isName),
  clientPrefix: aString,
};

const RULES: OptionRules<RedisCopyOptions> = {
  ...SERVERS,
  within: aWhole('ms', { from: 1 }),
  move: needed(aFunction),
  onStep: aFunction,
  signal: anAbortSignal,
};

/** Throws `TypeError` or `RangeError` naming the option. */
export function resolveCopy(options: RedisCopyOptions): ResolvedCopy {
  checkOptions('copyRedisLocks', options, RULES, "{ from, to, user: 'locks', move }");
  const { within = 20_000 } = options;
  return { ...options, ...prefixesOf(options), within };
}

/** As `resolveCopy`, for `settleRedisCopy`. */
export function resolveServers(options: RedisCopyServers): ResolvedServers {
  checkOptions('settleRedisCopy', options, SERVERS, "{ from, to, user: 'locks' }");
  return { ...options, ...prefixesOf(options) };
}

function prefixesOf({ keyPrefix = 'lock:', clientPrefix = '' }: RedisCopyServers) {
  return { keyPrefix, clientPrefix };
}

function isName(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}
