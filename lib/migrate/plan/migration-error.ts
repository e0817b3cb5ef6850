/**
 * - `LOCK_MIGRATE_SAME_KEYS`: `from` and `to` keep their locks in one place, and would refuse each other
 * - `LOCK_MIGRATE_FROM_OPEN`: phase `to`, and `from` still accepts the old credential
 * - `LOCK_MIGRATE_FROM_UNKNOWN`: phase `to`, and `from` has not answered, so it may accept the old credential
 * - `LOCK_MIGRATE_BARRIER`: phase `to`; `from` refuses the old credential, but not for `largestTtl` yet
 */
export type MigrationErrorCode =
  | 'LOCK_MIGRATE_SAME_KEYS'
  | 'LOCK_MIGRATE_FROM_OPEN'
  | 'LOCK_MIGRATE_FROM_UNKNOWN'
  | 'LOCK_MIGRATE_BARRIER';

/** The stores of a move cannot be used so, or not yet. Of a lock, it is the `cause` of its `LockStoreError`. */
export class MigrationError extends Error {
  constructor(
    readonly code: MigrationErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'MigrationError';
  }
}
