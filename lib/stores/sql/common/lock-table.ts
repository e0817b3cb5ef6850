import type { AcquireRequest, LockInspection } from '../../../core/contract/lock-store.js';

/** The columns of a key's row. Times are milliseconds. */
export interface Claim {
  readonly key: string;
  readonly token: string;
  readonly holder: string | undefined;
  readonly ttl: number;
  readonly fencingFloor: bigint | undefined;
}

/** The holders of a row, or of permits of it, by their tokens. */
export interface Holdings {
  /** Told of the ttl of each extension. */
  holds?: ((ttl: number) => void) | undefined;
  /** Resolves `false` when this token has no part of the row, or its part has expired. */
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
   * Puts the claim in the place of the exclusive holder with this fencing token. Resolves with a larger one, `undefined` if there
   * is no such holder. Idempotent per token of the claim.
   */
  evict(claim: Claim, fencingToken: bigint): Promise<bigint | undefined>;
  /**
   * Resolves with the tokens of the extended rows: these rows are ours, and no other transaction has locked them. Missing if the
   * database cannot skip a locked row: it would hold up the others.
   */
  extendMany?(rows: readonly OurRow[], ttl: number): Promise<ReadonlySet<string>>;
  inspect(key: string): Promise<LockInspection | undefined>;
  /** The first held rows whose keys are not before `from`, in the order of the keys' bytes. */
  list(from: string, limit: number): Promise<readonly LockInspection[]>;
  /** The clock of the database, in milliseconds since 1970. Missing if that is the clock of this machine. */
  time?(): Promise<number>;
  /**
   * Removes some of the rows that have been free for a day and whose tokens the clock has overtaken. Resolves with their number.
   */
  sweep(limit: number): Promise<number>;
  create(): Promise<void>;
}

/**
 * Permits, in the same rows. A shared row has the token `SHARED` and expires with its last sharer. To an exclusive caller it is a
 * row that another caller holds.
 */
export interface PermitTable extends Holdings {
  /** Joins the sharers of a row that has a permit left, or takes a row as `LockTable.acquire` does, to share it. */
  acquire(claim: Claim, permits: number): Promise<PermitAnswer>;
}

export interface PermitAnswer {
  readonly isGranted: boolean;
  /** The number of permits that the sharers of the row use, if there are any. */
  readonly inUse?: number | undefined;
}

/** The token of a shared row. Other tokens are random. */
export const SHARED = 'shared';

export function keyBytes(key: string): Buffer {
  return Buffer.from(key, 'utf8');
}

export function claimOf({ key, token, ttl, holder, fencingFloor }: AcquireRequest): Claim {
  return { key, token, ttl, holder, fencingFloor };
}
