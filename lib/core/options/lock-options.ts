import { unknownOption } from './option-names.js';
import { checkIsObject, show } from './option-values.js';
import { LOCK_RULES } from './lock-rules.js';
import { optionError } from './option-error.js';
import { SHORT_TTL, warnOfShortTtl } from './short-ttl.js';
import type { OptionRules } from './option-rules.js';
import { READERS } from '../sharing/hold-mode.js';

/** `'write'`: exclusive. `'read'`: shared with other readers. */
export type LockMode = 'read' | 'write';

/** Options of one acquisition. Set for a module, a decorator or a call; the later layer wins. All times are milliseconds. */
export interface LockOptions {
  /**
   * Label in events, metrics and logs, the same for all keys of one kind: at most 200 characters. It decides nothing.
   * @default the key's template with decorators and `lockRequest`, such as `order:<id>`; otherwise none
   */
  readonly name?: string | undefined;
  /**
   * How long the store keeps the key if this process dies. At least 10.
   * @default 30_000
   */
  readonly ttl?: number | undefined;
  /**
   * How long to wait for a held key. `0` means one attempt, `Infinity` means until it is free.
   * @default 10_000
   */
  readonly waitTimeout?: number | undefined;
  /**
   * How many callers of this service may wait for the key. One more rejects with `LockQueueFullError` at once.
   * @default 10_000
   */
  readonly maxWaiting?: number | undefined;
  /**
   * Time between two attempts, where the store has no queue of its own. With `retryCount`, it limits the wait everywhere.
   * @default 200
   */
  readonly retryDelay?: number | undefined;
  /**
   * Each delay is longer or shorter by a random part of this, so that waiters spread. Delays never go below 0.
   * @default 100
   */
  readonly retryJitter?: number | undefined;
  /**
   * Attempts after the first one. `0` means one attempt, as `waitTimeout: 0`; `Infinity` as many as `waitTimeout` allows. A wait
   * ends when they are over on every store: one that queues its callers is asked once, and waits as long as they may take, `retryCount` times
   * `retryDelay` and `retryJitter`.
   * @default Infinity
   */
  readonly retryCount?: number | undefined;
  /**
   * Extends the lock at a third of its ttl until it is released. `false`: it ends with its ttl.
   * @default true
   */
  readonly autoExtend?: boolean | undefined;
  /**
   * The lock is lost after this time, however healthy it is. `Infinity` means no limit.
   * @default Infinity
   */
  readonly maxHold?: number | undefined;
  /**
   * The event `overdue` tells of a lock that is held for longer. The lock stays held. `Infinity` means never.
   * @default Infinity
   */
  readonly overdueAfter?: number | undefined;
  /**
   * A release before this time leaves the key in the store for the rest of it.
   * @default 0
   */
  readonly minHold?: number | undefined;
  /**
   * How long one call to the store may take before it counts as failed.
   * @default 5_000
   */
  readonly storeTimeout?: number | undefined;
  /**
   * `'read'`: any number of readers hold the key together, and no writer with them. Not together with `permits`.
   * @default 'write'
   */
  readonly mode?: LockMode | undefined;
  /** Makes the key a semaphore with this many permits. Every caller of a key must give the same number. Missing: exclusive. */
  readonly permits?: number | undefined;
  /**
   * `true`: a call for keys that its own async context holds shares that lock, and does not wait. `false`: it waits like any
   * other caller, because the context may be inherited from another call, and rejects with `LockDeadlockError` when it still
   * waits after a second.
   * @default false
   */
  readonly reentrant?: boolean | undefined;
  /** Stops the wait with `signal.reason`. It does not release a lock that is already held. */
  readonly signal?: AbortSignal | undefined;
}

/** Options that suit every lock of a service. */
export type LockDefaults = Omit<LockOptions, 'mode' | 'permits' | 'name'>;

/** Options of a semaphore. */
export interface PermitOptions extends Omit<LockOptions, 'mode'> {
  readonly permits: number;
}

/** `mode` has become a number of permits: `Infinity` for readers. */
export type ResolvedLockOptions = Readonly<
  Required<Omit<LockOptions, 'name' | 'signal' | 'mode' | 'permits'>> &
    Pick<LockOptions, 'signal'> & { name: string | undefined; permits: number | undefined }
>;

export const DEFAULT_LOCK_OPTIONS: ResolvedLockOptions = Object.freeze({
  ttl: 30_000,
  waitTimeout: 10_000,
  maxWaiting: 10_000,
  retryDelay: 200,
  retryJitter: 100,
  retryCount: Infinity,
  autoExtend: true,
  maxHold: Infinity,
  overdueAfter: Infinity,
  minHold: 0,
  storeTimeout: 5_000,
  reentrant: false,
  name: undefined,
  permits: undefined,
  signal: undefined,
});

/** An option without a rule does not compile. */
const RULES: OptionRules<LockOptions> = LOCK_RULES;
const LOCK_OPTIONS = 'the options of a lock';
const EXAMPLE = '{ ttl: 30_000, waitTimeout: 5_000 }';

type Writable<Fields> = { -readonly [Name in keyof Fields]: Fields[Name] };

const NAMES = Object.keys(DEFAULT_LOCK_OPTIONS) as (keyof ResolvedLockOptions)[];

/**
 * A value of `undefined` leaves that of `base`. Throws `TypeError` or `RangeError` naming the option.
 *
 * Each field is read once, and values of `base` were checked with it: this is on the path of every lock.
 */
export function resolveLockOptions(
  base: ResolvedLockOptions,
  layer?: LockOptions,
): ResolvedLockOptions {
  if (layer === undefined) return base;
  checkIsObject(LOCK_OPTIONS, layer, EXAMPLE);
  for (const name of Object.keys(layer))
    if (!Object.hasOwn(RULES, name)) throw unknownOption(name, Object.keys(RULES));
  const resolved: Writable<ResolvedLockOptions> = { ...base };
  for (const name of NAMES) {
    const value = layer[name];
    if (value === undefined || value === base[name]) continue;
    RULES[name](name, value);
    (resolved as Record<string, unknown>)[name] = value;
  }
  const { mode } = layer;
  if (mode !== undefined) resolved.permits = permitsOf(mode, resolved.permits);
  if (resolved.minHold > resolved.maxHold) throw heldTooShort(resolved);
  if (resolved.ttl < SHORT_TTL && resolved.autoExtend) warnOfShortTtl(resolved.ttl);
  return Object.freeze(resolved);
}

function permitsOf(mode: LockMode, permits: number | undefined): number | undefined {
  RULES.mode('mode', mode);
  if (permits !== undefined)
    throw optionError(`a lock has either a mode or permits, got mode ${show(mode)} and permits`);
  return mode === 'read' ? READERS : undefined;
}

function heldTooShort({ minHold, maxHold }: ResolvedLockOptions): RangeError {
  return optionError(`minHold (${minHold} ms) must not exceed maxHold (${maxHold} ms)`, RangeError);
}

/** Another value in their place, such as a number, would count as no options. */
export function checkLockOptions(options: unknown): void {
  if (options === undefined) return;
  checkIsObject(LOCK_OPTIONS, options, EXAMPLE);
}

/** For `lock.extend(ttl)`. */
export function checkTtl(ttl: unknown): void {
  RULES.ttl('ttl', ttl);
}

/** For kinds of locks that need permits. */
export function checkPermits({ permits }: Pick<LockOptions, 'permits'>): void {
  RULES.permits('permits', permits);
}
