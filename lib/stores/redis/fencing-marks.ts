/** All processes that share locks have to agree on this number, and on `hashOf`. */
const MARKS = 1_024;

/**
 * The numbers that the fencing tokens of one server come from: about so many, however many locks there are, so that nothing is left of a
 * lock that was released. A lock has always the same one. That others have it, too, makes its tokens larger and never smaller.
 */
export class FencingMarks {
  readonly #prefix: string;
  readonly #names: string[] = [];

  /** `prefix` is what all locks begin with on the server. */
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
