/** `nest-holdfast/migrate`. */
export { MigratingLockStore } from './migrating-lock.store.js';
export type { MigratingLockStoreOptions, MigrationPhase } from './plan/migrate-options.js';
export { MigrationError } from './plan/migration-error.js';
export type { MigrationErrorCode } from './plan/migration-error.js';
export { checkMigration } from './checks/check-migration.js';
export type {
  CheckMigrationOptions,
  MigrationCheck,
  MigrationFinding,
  MigrationFindingCode,
} from './checks/check-migration.js';
export { migrationStatus } from './checks/migration-status.js';
export type { MigrationStatus, MigrationStatusOptions } from './checks/migration-status.js';
export { copyRedisLocks, settleRedisCopy } from './copy/copy-redis-locks.js';
export type { RedisCopyResult } from './copy/redis-copy.js';
export type { RedisCopyOptions, RedisCopyServers, RedisCopyStep } from './copy/copy-options.js';
export type { RedisAdmin } from './copy/admin-client.js';
export { CopyError } from './copy/copy-error.js';
export type { CopyErrorCode } from './copy/copy-error.js';
