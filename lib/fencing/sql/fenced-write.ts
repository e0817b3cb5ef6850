import { show } from '../../core/options/option-values.js';
import { FencedRowMissingError, LockStaleError } from '../holder/fencing-errors.js';
import type { FencedHolder } from '../holder/fenced-holder.js';

/**
 * A library's answer to an update: a number (Knex), `rowCount` (pg), `affectedRows` (mysql2; its `[result, fields]` too),
 * `affected` (TypeORM), `count` (Prisma).
 */
export type WriteResult = number | object;

/** Resolves with the row that was to be written, with the fence in it; `undefined` or `null` when there is none. */
export type ReadFence = () => Promise<object | null | undefined>;

/** The base of every library's helper. */
export class FencedWrite {
  readonly #holder: FencedHolder;
  readonly #column: string;

  constructor(holder: FencedHolder, column: string) {
    this.#holder = holder;
    this.#column = column;
  }

  /** Rows that an update has written, or matched: where it says so. Throws `TypeError` for an answer that does not tell. */
  written(result: WriteResult): number {
    const answer: unknown = Array.isArray(result) ? result[0] : result;
    if (typeof answer === 'number') return answer;
    const fields = (answer ?? {}) as Record<string, unknown>;
    const names = ['rowCount', 'affectedRows', 'affected', 'count'];
    const count = names.map((name) => fields[name]).find((each) => typeof each === 'number');
    if (count !== undefined) return count;
    throw new TypeError(
      `the answer of an update must be a number, or have one of ${names.join(', ')}; got ${show(answer)}`,
    );
  }

  /**
   * Resolves `true` when the update wrote. When it did not, the row is read, on the primary and as it is now (`FOR UPDATE`
   * inside a transaction of MySQL, whose plain `SELECT` shows the past). Rejects with `LockStaleError` when a newer holder was
   * there, with `FencedRowMissingError` when there is no row. Resolves `false` when the fence was no obstacle: another
   * condition of the statement did not hold.
   */
  async assertWritten(result: WriteResult, readFence: ReadFence): Promise<boolean> {
    if (this.written(result) > 0) return true;
    const { key, fencingToken } = this.#holder;
    const row = await readFence();
    if (row === undefined || row === null) throw new FencedRowMissingError(key);
    const newest = this.#fenceIn(row);
    if (newest > fencingToken) throw new LockStaleError(key, fencingToken, newest);
    return false;
  }

  #fenceIn(row: object): bigint {
    const value = (row as Record<string, unknown>)[this.#column];
    if (typeof value === 'bigint') return value;
    if (typeof value === 'string' && /^-?\d+$/.test(value)) return BigInt(value);
    if (Number.isSafeInteger(value)) return BigInt(value as number);
    const hint =
      typeof value === 'number'
        ? 'a number cannot hold it exactly, so read it as text'
        : `the column has to be selected, and to be BIGINT NOT NULL`;
    throw new TypeError(
      `the row's "${this.#column}" must be a whole number, got ${show(value)}: ${hint}`,
    );
  }
}
