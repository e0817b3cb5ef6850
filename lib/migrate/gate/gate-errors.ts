import type { LockStore } from '../../core/contract/lock-store.js';
import { MigrationError } from '../plan/migration-error.js';

/** The old credential works. */
export function openError(from: LockStore | undefined): MigrationError {
  return new MigrationError(
    'LOCK_MIGRATE_FROM_OPEN',
    `phase 'to' grants nothing while ${nameOf(from)} accepts the old credential: processes of the old configuration may lock ` +
      'there. Delete that credential, and wait for largestTtl; or set fromClosed if no such process is left',
  );
}

/** It has not been refused for long enough: `rest` ms are left. */
export function barrierError(
  from: LockStore | undefined,
  largestTtl: number,
  rest: number,
): MigrationError {
  return new MigrationError(
    'LOCK_MIGRATE_BARRIER',
    `phase 'to' grants nothing before ${nameOf(from)} has refused the old credential for largestTtl (${largestTtl} ms): ` +
      `${rest} ms are left`,
  );
}

/** The store has not answered. */
export function unknownError(from: LockStore | undefined, why: string): MigrationError {
  return new MigrationError(
    'LOCK_MIGRATE_FROM_UNKNOWN',
    `phase 'to' grants nothing before ${nameOf(from)} refuses the old credential, and that is not known: ${why}. ` +
      'Set fromClosed if no process of the old configuration is left',
  );
}

function nameOf(from: LockStore | undefined): string {
  return `from ("${from?.name}")`;
}
