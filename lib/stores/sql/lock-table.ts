import type { LockInspection } from '../../core/lock-store.js';

/** What is written into the row of a key. Times are milliseconds. */
export interface Claim {
  readonly key: string;
  readonly token: string;
  readonly holder: string | undefined;
  readonly ttl: number;
  readonly fencingFloor: bigint | undefined;
}

/**
 * The table of the locks in one database. A row per key; one without a token is free, and remembers the last fencing token.
 * Each method is one statement on any connection, decided by the clock of the database alone.
 */
export interface LockTable {
  /** Inserts the row, or takes over one that is free, expired or carries this token. Resolves `undefined` when it is held. */
  acquire(claim: Claim): Promise<bigint | undefined>;
  /** Resolves `false` when the row does not carry this token, or has expired. */
  extend(key: string, token: string, ttl: number): Promise<boolean>;
  /** As `extend`. */
  release(key: string, token: string): Promise<boolean>;
  inspect(key: string): Promise<LockInspection | undefined>;
  /** Removes some of the rows that have been free for a day, whose tokens the clock has overtaken. Resolves how many. */
  sweep(limit: number): Promise<number>;
  create(): Promise<void>;
}

export function keyBytes(key: string): Buffer {
  return Buffer.from(key, 'utf8');
}

/** The columns of an answer in their order, whether the pool makes objects or arrays of rows. */
export function columnsOf(row: unknown): readonly unknown[] {
  return Object.values(row as object);
}

/** Of the columns `holder`, `remaining` and `fencing`, as text. */
export function asInspection(key: string, row: unknown): LockInspection | undefined {
  if (!row) return undefined;
  const [holder, remaining, fencing] = columnsOf(row) as [string | null, string, string];
  return {
    key,
    holder: holder ?? undefined,
    remaining: Number(remaining),
    fencingToken: BigInt(fencing),
  };
}
