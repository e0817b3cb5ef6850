import { checkKey } from '../../core/keys/lock-keys.js';
import { show } from '../../core/options/option-values.js';

/** The writer: a `Lock` as it is, or what came from another process, `{ key, fencingToken }`. */
export interface FencedHolder {
  /** The lock that the token is of, at most 512 bytes. Tokens of different locks cannot be compared. */
  readonly key: string;
  /** From 0 to 2^63 - 1, as a `BIGINT` column holds it. */
  readonly fencingToken: bigint;
}

/** A signed number of 64 bits: the largest of SQL, of ZooKeeper's transaction ids, of etcd's revisions. */
export const LARGEST_TOKEN = 2n ** 63n - 1n;

/** The two fields, read once. Throws `LockKeyError`, `TypeError` or `RangeError`. */
export function checkHolder(holder: FencedHolder): FencedHolder {
  if (typeof holder !== 'object' || holder === null) {
    throw new TypeError(`a lock or { key, fencingToken } is expected, got ${show(holder)}`);
  }
  const { key, fencingToken } = holder;
  checkKey(key);
  checkToken(fencingToken);
  return { key, fencingToken };
}

function checkToken(token: unknown): void {
  const expected = 'fencingToken must be a bigint from 0n to 2n ** 63n - 1n';
  if (typeof token !== 'bigint') throw new TypeError(`${expected}, got ${show(token)}`);
  if (token < 0n || token > LARGEST_TOKEN) throw new RangeError(`${expected}, got ${show(token)}`);
}
