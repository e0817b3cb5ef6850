import { slotTag } from '../../../redis-client/cluster-slot.js';

/** The keys beside a lock, in the order in which the scripts expect them. */
type Beside = readonly ('fence' | 'line' | 'shared')[];

/** Of a lock that is held exclusively: its fencing counter, its line. */
export const BESIDE: Beside = ['fence', 'line'];
/** Of sharers and waiters: the line, the set of sharers. */
export const BESIDE_SHARED: Beside = ['line', 'shared'];
export const BESIDE_INSPECTED: Beside = ['fence', 'line', 'shared'];

/** The name of a key beside a lock, escaped ones included, and `queue`, a former name of the line. */
const RESERVED = /^(\{[^}]+\}:)(%*(?:fence|line|queue|shared|guard)(?::|$))/;
const BRACE = /[{}]/;
/** As `RESERVED`, with one `%` more. */
const ESCAPED = /^(\{[^}]+\}:)%(%*(?:fence|line|queue|shared|guard)(?::|$))/;

const MARKS = 1_024;

/**
 * The names of a lock's keys on the server. They are in the lock's slot. No lock has the name of a key beside another one,
 * whatever its own key: those names begin with a brace. Where a lock's name may, too, a conflicting one gets a `%` behind its
 * hash tag.
 */
export class ServerKeys {
  readonly prefix: string;
  readonly #clientPrefix: string;
  readonly #mayCollide: boolean;
  /**
   * The names of the counters behind the fencing tokens of one server: about `MARKS` of them, whatever the number of locks, so that a
   * released lock leaves nothing behind. A lock always has the same one. Sharing it with other locks makes its tokens larger,
   * never smaller. Missing where each lock has a counter of its own.
   */
  #marks: string[] | undefined;

  /**
   * `clientPrefix` is the client's prefix of every key. `isOneServer`: its locks share fencing counters, for they need not be in
   * the slot of the lock.
   */
  constructor(prefix: string, clientPrefix: string, isOneServer: boolean) {
    this.prefix = prefix;
    this.#clientPrefix = clientPrefix;
    this.#mayCollide = prefix === '' || prefix.startsWith('{');
    if (isOneServer) this.#marks = [];
  }

  /**
   * From now on, each lock has its own fencing counter: other stores raise it, and the tokens of one lock must not raise those
   * of another.
   */
  countEach(): void {
    this.#marks = undefined;
  }

  locks(keys: readonly string[]): readonly string[] {
    return keys.map((key) => this.#lock(key));
  }

  /** The locks, then for each of `beside` the key of every lock. */
  with(beside: Beside, keys: readonly string[]): readonly string[] {
    const names: string[] = [];
    const marks = this.#marks;
    for (let index = 0; index < keys.length; index++) {
      const lock = this.#mayCollide ? this.#lock(keys[index]!) : this.prefix + keys[index]!;
      const name = this.#clientPrefix + lock;
      const tag = BRACE.test(name) ? slotTag(name) : name; // without a brace, a name is its own tag
      const rest = tag === lock ? '' : `:${lock}`;
      const slot = `{${tag}}:`;
      names[index] = lock;
      let at = index;
      for (const what of beside) {
        at += keys.length;
        names[at] = what === 'fence' && marks ? this.#markOf(marks, lock) : slot + what + rest;
      }
    }
    return names;
  }

  /** The beginning of the names of all locks whose keys begin with `text`. */
  startOf(text: string): string {
    const start = this.prefix + text;
    return this.#clientPrefix + (this.#mayCollide && start.startsWith('{') ? this.prefix : start);
  }

  /** The key of the lock that has this name on the server. `undefined`: no lock has it. */
  keyOf(name: string): string | undefined {
    if (!name.startsWith(this.#clientPrefix)) return undefined;
    const lock = name.slice(this.#clientPrefix.length);
    const named = this.#mayCollide ? lock.replace(ESCAPED, '$1$2') : lock;
    const key = named.slice(this.prefix.length);
    const isIts = key !== '' && named.startsWith(this.prefix) && this.#lock(key) === lock;
    return isIts ? key : undefined;
  }

  /** The mark is the lock's hash by FNV-1a, of UTF-16. All processes that share locks have to agree on it, and on `MARKS`. */
  #markOf(marks: string[], lock: string): string {
    let hash = 0x811c9dc5;
    for (let index = 0; index < lock.length; index++)
      hash = Math.imul(hash ^ lock.charCodeAt(index), 0x01000193);
    const mark = ((hash ^ (hash >>> 15)) >>> 0) % MARKS;
    return (marks[mark] ??= `{${this.#clientPrefix}${this.prefix}mark:${mark}}:fence`);
  }

  #lock(key: string): string {
    const lock = this.prefix + key;
    return this.#mayCollide ? lock.replace(RESERVED, '$1%$2') : lock;
  }
}
