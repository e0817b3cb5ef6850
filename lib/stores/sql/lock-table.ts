import type { LockInspection } from '../../core/lock-store.js';

/** What is written into the row of a key. Times are milliseconds. */
export interface Claim {
  readonly key: string;
  readonly token: string;
  readonly holder: string | undefined;
  readonly ttl: number;
  readonly fencingFloor: bigint | undefined;
}

/** Those who have a row, or a part of it, by their tokens. */
export interface Holdings {
  /** Resolves `false` when this token has nothing of the row, or it has expired. */
  extend(key: string, token: string, ttl: number): Promise<boolean>;
  /** As `extend`. */
  release(key: string, token: string): Promise<boolean>;
}

/** A row that carries a token of ours. */
export interface OurRow {
  readonly key: string;
  readonly token: string;
}

/**
 * The table of the locks in one database. A row per key; one without a token is free, and remembers the last fencing token.
 * Each method is one statement on any connection, decided by the clock of the database alone.
 */
export interface LockTable extends Holdings {
  readonly permits: PermitTable;
  /** Inserts the row, or takes over one that is free, expired or carries this token. Resolves `undefined` when it is held. */
  acquire(claim: Claim): Promise<bigint | undefined>;
  /**
   * Resolves with the tokens of those that are extended: they are ours, and nobody has locked their rows. Missing where a locked
   * row cannot be skipped: it would hold up the others.
   */
  extendMany?(rows: readonly OurRow[], ttl: number): Promise<ReadonlySet<string>>;
  inspect(key: string): Promise<LockInspection | undefined>;
  /** Removes some of the rows that have been free for a day, whose tokens the clock has overtaken. Resolves how many. */
  sweep(limit: number): Promise<number>;
  create(): Promise<void>;
}

/**
 * Permits, in the same rows. Such a row carries the token `SHARED` and expires with the last of its sharers, so that it is held
 * by somebody else for all who want it alone.
 */
export interface PermitTable extends Holdings {
  /** Joins the sharers of a row that has a permit left, or takes a row as `LockTable.acquire` does, to share it. */
  acquire(claim: Claim, permits: number): Promise<PermitAnswer>;
}

export interface PermitAnswer {
  readonly isGranted: boolean;
  /** How many permits the sharers of the row know of, where there are some. */
  readonly inUse?: number | undefined;
}

/** The token of a row that several have. Tokens of others are random. */
export const SHARED = 'shared';

export function keyBytes(key: string): Buffer {
  return Buffer.from(key, 'utf8');
}
