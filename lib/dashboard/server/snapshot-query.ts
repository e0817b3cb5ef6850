import { LockKeyError } from '../../core/contract/lock-errors.js';
import { checkKey } from '../../core/keys/lock-keys.js';
import type { LockRow, SnapshotQuery } from '../api.js';
import { Refusal } from './answers.js';

const STATES: readonly string[] = ['held', 'jeopardy', 'overdue'] satisfies LockRow['state'][];
/** Characters of a search and of a name. */
const LONGEST = 1_000;

/** The query of `url`. An empty `search`, `state` or `key` is none. Throws `Refusal`. */
export function snapshotQuery(url: string): SnapshotQuery {
  const query = new URLSearchParams(url.slice(url.indexOf('?') + 1 || url.length));
  const text = (name: string) => query.get(name)?.slice(0, LONGEST) || undefined;
  const state = text('state');
  if (state !== undefined && !STATES.includes(state)) {
    throw new Refusal(400, 'LOCK_OPTION_INVALID', `state must be one of ${STATES.join(', ')}`);
  }
  return {
    search: text('search'),
    state: state as LockRow['state'] | undefined,
    name: text('name'),
    key: keyOf(query.get('key') || undefined),
  };
}

function keyOf(key: string | undefined): string | undefined {
  return key === undefined ? undefined : checkedKey(key);
}

/** Throws `Refusal` for what cannot be a key. */
export function checkedKey(key: unknown): string {
  try {
    return checkKey(key);
  } catch (error) {
    if (!(error instanceof LockKeyError)) throw error;
    throw new Refusal(400, error.code, error.message);
  }
}
