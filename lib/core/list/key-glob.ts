/** `LockListQuery.match`: `*` is any text, `?` any one character, every other character itself. */
export class KeyGlob {
  /** The text in front of the first `*` or `?`: every key that matches begins with it. */
  readonly start: string;
  readonly #pattern: readonly string[] | undefined;

  /** Without a pattern, every key matches. */
  constructor(match: string | undefined) {
    this.#pattern = match === undefined ? undefined : Array.from(match);
    this.start = match === undefined ? '' : /^[^*?]*/.exec(match)![0];
  }

  matches(key: string): boolean {
    return this.#pattern === undefined || (key.startsWith(this.start) && fits(this.#pattern, key));
  }
}

/**
 * A `*` takes as little as it can, and one character more whenever the rest does not fit. Only the last `*` is tried again, so
 * that a pattern of many costs no more than the product of both lengths.
 */
function fits(pattern: readonly string[], key: string): boolean {
  const text = Array.from(key);
  let [at, star, taken] = [0, -1, 0];
  for (let index = 0; index < text.length;) {
    if (pattern[at] === '*') [star, taken] = [at++, index];
    else if (pattern[at] === '?' || pattern[at] === text[index]) [at, index] = [at + 1, index + 1];
    else if (star >= 0) [at, index] = [star + 1, ++taken];
    else return false;
  }
  return pattern.slice(at).every((each) => each === '*');
}
