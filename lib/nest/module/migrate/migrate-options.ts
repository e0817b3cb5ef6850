import { aBag, needed, secretly } from '../../../core/options/option-rules.js';
import type { OptionRule, OptionRules } from '../../../core/options/option-rules.js';
import { optionError } from '../../../core/options/option-error.js';
import type { LockStore } from '../../../core/contract/lock-store.js';
import { aStore, PHASE_RULES } from '../../../migrate/plan/migrate-options.js';
import type { MigratingLockStoreOptions } from '../../../migrate/plan/migrate-options.js';
import { REDIS_RULES } from '../../../stores/redis/redis-lock-options.js';
import type { RedisLockStoreOptions } from '../../../stores/redis/redis-lock-options.js';
import type { RedisSource } from '../redis/redis-connection.js';

/** One of the two stores of a move: `redis`, or `store`. */
export interface MigrationSideOptions {
  /** As `forRoot({ redis })`: a list makes a Redlock. */
  readonly redis?: RedisSource | readonly RedisSource[] | undefined;
  /**
   * See `RedisLockStoreOptions.keyPrefix`. Only with `redis`.
   * @default that of the module
   */
  readonly keyPrefix?: RedisLockStoreOptions['keyPrefix'];
  /** Any store. It is closed with the module. */
  readonly store?: LockStore | undefined;
}

/** A move from one store to another: see `MigratingLockStore` of `nest-holdfast/migrate`. */
export interface ModuleMigrationOptions extends Pick<
  MigratingLockStoreOptions,
  'phase' | 'largestTtl' | 'fencingBase' | 'fromClosed'
> {
  /** The store that is left. In `to`, by the credential of the old configuration. */
  readonly from?: MigrationSideOptions | undefined;
  /** The store that is moved to. */
  readonly to: MigrationSideOptions;
}

const aSource = secretly(
  'a URL, options of ioredis, a client, a function or a list of these',
  (value) => value !== null && ['string', 'object', 'function'].includes(typeof value),
);

const SIDE = aBag<MigrationSideOptions>(
  { redis: aSource, keyPrefix: REDIS_RULES.keyPrefix, store: aStore },
  "{ redis: 'redis://localhost:6379' }",
);

/** An option that is named without a value is a mistake. */
const aSide: OptionRule = (name, value) => {
  SIDE(name, value);
  const { redis, store } = value as MigrationSideOptions;
  const given: unknown[] = [redis, store].filter((each) => each !== undefined);
  if (given.length === 1 && given[0] !== '') return;
  throw optionError(
    `${name} must have either redis or store (is an environment variable missing?)`,
  );
};

const RULES: OptionRules<ModuleMigrationOptions> = {
  from: aSide,
  to: needed(aSide),
  ...PHASE_RULES,
};

export const aMigration = aBag<ModuleMigrationOptions>(
  RULES,
  "{ from: { redis }, to: { redis }, phase: 'dual', largestTtl: 30_000 }",
);

/** Throws `TypeError` where several options say where the locks are. */
export function checkOneSource(
  owner: string,
  { redis, store, migrate }: { redis?: unknown; store?: unknown; migrate?: unknown },
): void {
  if (redis !== undefined && store !== undefined)
    throw optionError(`${owner}: give either redis or store, not both`);
  if (migrate === undefined || (redis === undefined && store === undefined)) return;
  throw optionError(
    `${owner}: give either migrate, or redis or store: the stores of a move are migrate.from and migrate.to`,
  );
}
