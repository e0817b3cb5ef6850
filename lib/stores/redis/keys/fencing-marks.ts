const MARKS = 1_024;

/**
 * The counters behind the fencing tokens of one server: about `MARKS` of them, whatever the number of locks, so that a released
 * lock leaves nothing behind. A lock always has the same one. Sharing it with other locks makes its tokens larger, never
 * smaller.
 */
export class FencingMarks {
  readonly #prefix: string;
  readonly #names: string[] = [];

  /** `prefix` begins the name of every lock on the server. */
  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  /** The mark is the lock's hash by FNV-1a, of UTF-16. All processes that share locks have to agree on it, and on `MARKS`. */
  nameFor(lock: string): string {
    let hash = 0x811c9dc5;
    for (let index = 0; index < lock.length; index++)
      hash = Math.imul(hash ^ lock.charCodeAt(index), 0x01000193);
    const mark = ((hash ^ (hash >>> 15)) >>> 0) % MARKS;
    return (this.#names[mark] ??= `{${this.#prefix}mark:${mark}}:fence`);
  }
}
