/** Options of one acquisition. Set for a module, a decorator or a call; the later layer wins. All times are milliseconds. */
export interface LockOptions {
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
   * Time between two attempts, where the store has no queue of its own.
   * @default 200
   */
  readonly retryDelay?: number | undefined;
  /**
   * Each delay is longer or shorter by a random part of this, so that waiters spread. Delays never go below 0.
   * @default 100
   */
  readonly retryJitter?: number | undefined;
  /**
   * Attempts after the first one. `0` means one attempt, `Infinity` as many as `waitTimeout` allows.
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
   * A release before this time leaves the key in the store for the rest of it.
   * @default 0
   */
  readonly minHold?: number | undefined;
  /**
   * How long one call to the store may take before it counts as failed.
   * @default 5_000
   */
  readonly storeTimeout?: number | undefined;
  /** Stops the wait with `signal.reason`. It does not release a lock that is already held. */
  readonly signal?: AbortSignal | undefined;
}

export type ResolvedLockOptions = Readonly<
  Required<Omit<LockOptions, 'signal'>> & Pick<LockOptions, 'signal'>
>;

export const DEFAULT_LOCK_OPTIONS: ResolvedLockOptions = Object.freeze({
  ttl: 30_000,
  waitTimeout: 10_000,
  retryDelay: 200,
  retryJitter: 100,
  retryCount: Infinity,
  autoExtend: true,
  maxHold: Infinity,
  minHold: 0,
  storeTimeout: 5_000,
  signal: undefined,
});

/** Node's timers reach no further: 24.8 days. */
const LONGEST = 2_147_483_647;
/** Below this, two milliseconds of drift are a large part of the ttl. */
const SHORTEST_TTL = 10;

interface Range {
  readonly from: number;
  readonly unit: string;
  readonly infinite?: boolean;
}

const RANGES: Partial<Record<keyof LockOptions, Range>> = {
  ttl: { from: SHORTEST_TTL, unit: 'ms' },
  waitTimeout: { from: 0, unit: 'ms', infinite: true },
  retryDelay: { from: 0, unit: 'ms' },
  retryJitter: { from: 0, unit: 'ms' },
  retryCount: { from: 0, unit: 'attempts', infinite: true },
  maxHold: { from: SHORTEST_TTL, unit: 'ms', infinite: true },
  minHold: { from: 0, unit: 'ms' },
  storeTimeout: { from: 1, unit: 'ms' },
};

/** Later layers win; a value of `undefined` leaves the earlier one. Throws `TypeError` or `RangeError` naming the option. */
export function resolveLockOptions(
  base: ResolvedLockOptions,
  ...layers: readonly (LockOptions | undefined)[]
): ResolvedLockOptions {
  const options: Record<string, unknown> = { ...base };
  for (const layer of layers) {
    for (const [name, value] of Object.entries(layer ?? {})) {
      if (!Object.hasOwn(DEFAULT_LOCK_OPTIONS, name)) throw unknownOption(name);
      if (value === undefined) continue;
      checkOption(name as keyof LockOptions, value);
      options[name] = value;
    }
  }
  const resolved = options as unknown as ResolvedLockOptions;
  if (resolved.minHold > resolved.maxHold) {
    throw new RangeError(
      `minHold (${resolved.minHold} ms) must not exceed maxHold (${resolved.maxHold} ms)`,
    );
  }
  return Object.freeze(resolved);
}

function checkOption(name: keyof LockOptions, value: unknown): void {
  const range = RANGES[name];
  if (range) return checkRange(name, value, range);
  if (name === 'autoExtend' && typeof value !== 'boolean') {
    throw new TypeError(`autoExtend must be a boolean, got ${show(value)}`);
  }
  if (name === 'signal' && !(value instanceof AbortSignal)) {
    throw new TypeError(`signal must be an AbortSignal, got ${show(value)}`);
  }
}

function checkRange(name: string, value: unknown, { from, unit, infinite }: Range): void {
  const expected = `a whole number of ${unit} from ${from} to ${LONGEST}${infinite ? ', or Infinity' : ''}`;
  if (typeof value !== 'number') {
    throw new TypeError(`${name} must be ${expected}, got ${show(value)}`);
  }
  if (infinite && value === Infinity) return;
  if (!Number.isInteger(value) || value < from || value > LONGEST) {
    throw new RangeError(`${name} must be ${expected}, got ${show(value)}`);
  }
}

/** For `lock.extend(ttl)`. */
export function checkTtl(ttl: unknown): void {
  checkOption('ttl', ttl);
}

function unknownOption(name: string): TypeError {
  const known = Object.keys(DEFAULT_LOCK_OPTIONS).join(', ');
  return new TypeError(`unknown lock option "${name}"; known options are ${known}`);
}

/** How a bad value is named in an error message. */
export function show(value: unknown): string {
  if (typeof value === 'string') return `the string ${JSON.stringify(value)}`;
  if (typeof value === 'bigint') return `${value}n`;
  if (value === null || typeof value !== 'object') return String(value);
  return `an object (${value.constructor?.name ?? 'no prototype'})`;
}
