/** All processes that share locks have to agree on this number, and on `hashOf`. */
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

  nameFor(lock: string): string {
    const mark = hashOf(lock) % MARKS;
    return (this.#names[mark] ??= `{${this.#prefix}mark:${mark}}:fence`);
  }
}

/** FNV-1a, of UTF-16. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return (hash ^ (hash >>> 15)) >>> 0;
}
