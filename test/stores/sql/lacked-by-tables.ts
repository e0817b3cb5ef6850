import type { ConformanceFeature } from 'nest-holdfast/testing';

/** Features that no `SqlLockStore` has. */
export const LACKED_BY_TABLES = [
  'sessions',
  'globalTokens',
  'raiseFencing',
  'manyKeys',
  'readLocks',
  'permitQueue',
  'downgrade',
] as const satisfies readonly ConformanceFeature[];
