import { LockUnsupportedError } from '../contract/lock-errors.js';
import type { LockPage } from '../contract/lock-store.js';
import { checkPage } from '../contract/store-answers.js';
import { aName, aString, aWhole, checkOptions } from '../options/option-rules.js';
import type { OptionRules } from '../options/option-rules.js';
import { askStore } from './ask-store.js';
import type { InspectionContext } from './ask-store.js';

/** Which locks to list. */
export interface LockListOptions {
  /**
   * Glob over the key as callers write it: `*` is any text, `?` any character.
   * @default all keys
   */
  readonly match?: string | undefined;
  /** `LockPage.cursor` of the page before. Missing: the first page. */
  readonly cursor?: string | undefined;
  /**
   * Maximum number of locks in the page, from 1 to 1,000.
   * @default 100
   */
  readonly limit?: number | undefined;
}

const RULES: OptionRules<LockListOptions> = {
  match: aName,
  cursor: aString,
  limit: aWhole('locks', { from: 1, to: 1_000 }),
};

/** Rejects with `LockUnsupportedError` for a store that cannot list, and with `LockStoreError`. */
export async function listLocks(
  context: InspectionContext,
  options: LockListOptions,
  within: number,
): Promise<LockPage> {
  checkOptions('locks.list', options, RULES, "{ match: 'order:*' }");
  const { match, cursor, limit = 100 } = options;
  const about = match ?? '*';
  const { store } = context;
  if (!store.list) {
    const message = `Lock store "${store.name}" cannot list its locks`;
    throw new LockUnsupportedError(about, store.name, message);
  }
  const query = { match, cursor, limit };
  return askStore(context, about, within, () => store.list!(query), checkPage);
}
