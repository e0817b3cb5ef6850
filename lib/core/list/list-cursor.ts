import { createHash } from 'node:crypto';
import { optionError } from '../options/option-error.js';
import { show } from '../options/option-values.js';

const CURSOR = /^([\w-]+)\.([\w-]{8})$/;

/** Cursors of one store's lists: text that another store refuses, and that shows when it was changed. */
export class ListCursors<Place> {
  readonly #scope: string;

  /** `scope` names what is listed: the kind of store, its prefix or table. Stores of one scope read each other's cursors. */
  constructor(...scope: readonly string[]) {
    this.#scope = JSON.stringify(scope);
  }

  /** `place` is written as JSON. */
  write(place: Place): string {
    const text = JSON.stringify(place);
    return `${Buffer.from(text).toString('base64url')}.${this.#sealOf(text)}`;
  }

  /** Throws `TypeError` for anything but a cursor of this scope. `undefined` is the first page. */
  read(cursor: string | undefined): Place | undefined {
    if (cursor === undefined) return undefined;
    const [, encoded = '', seal] = (typeof cursor === 'string' && CURSOR.exec(cursor)) || [];
    const text = Buffer.from(encoded, 'base64url').toString();
    if (seal === this.#sealOf(text)) return JSON.parse(text) as Place;
    throw optionError(
      `list: cursor must be that of a page before, of the same store, got ${show(cursor)}`,
    );
  }

  #sealOf(text: string): string {
    const hash = createHash('sha256').update(this.#scope).update('\0').update(text);
    return hash.digest('base64url').slice(0, 8);
  }
}
