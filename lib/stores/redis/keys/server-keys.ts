import { slotTag } from '../../../redis-client/cluster-slot.js';
import { FencingMarks } from './fencing-marks.js';

/** The keys beside a lock, in the order in which the scripts expect them. */
const BESIDE = ['fence', 'line'];
const BESIDE_SHARED = ['line', 'shared'];
const BESIDE_INSPECTED = ['fence', 'line', 'shared'];

/** The name of a key beside a lock, escaped ones included, and `queue`, a former name of the line. */
const RESERVED = /^(\{[^}]+\}:)(%*(?:fence|line|queue|shared|guard)(?::|$))/;
const BRACE = /[{}]/;
/** As `RESERVED`, with one `%` more. */
const ESCAPED = /^(\{[^}]+\}:)%(%*(?:fence|line|queue|shared|guard)(?::|$))/;

/**
 * The names of a lock's keys on the server. They are in the lock's slot. No lock has the name of a key beside another one,
 * whatever its own key: those names begin with a brace. Where a lock's name may, too, a conflicting one gets a `%` behind its
 * hash tag.
 */
export class ServerKeys {
  readonly prefix: string;
  readonly #clientPrefix: string;
  readonly #mayCollide: boolean;
  /** Missing where each lock has a fencing counter of its own. */
  #marks: FencingMarks | undefined;

  /**
   * `clientPrefix` is the client's prefix of every key. `isOneServer`: its locks share fencing counters, for they need not be in
   * the slot of the lock.
   */
  constructor(prefix: string, clientPrefix: string, isOneServer: boolean) {
    this.prefix = prefix;
    this.#clientPrefix = clientPrefix;
    this.#mayCollide = prefix === '' || prefix.startsWith('{');
    if (isOneServer) this.#marks = new FencingMarks(clientPrefix + prefix);
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

  /** The locks, then their fencing counters, then their lines. */
  alone(keys: readonly string[]): readonly string[] {
    return keys.length === 1 ? this.#one(BESIDE, keys[0]!) : this.#many(BESIDE, keys);
  }

  /** The locks, then their lines, then the sets of sharers. */
  shared(keys: readonly string[]): readonly string[] {
    return keys.length === 1 ? this.#one(BESIDE_SHARED, keys[0]!) : this.#many(BESIDE_SHARED, keys);
  }

  /** A lock, its fencing counter, its line, its set of sharers. */
  inspected(key: string): readonly string[] {
    return this.#one(BESIDE_INSPECTED, key);
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

  #many(beside: readonly string[], keys: readonly string[]): readonly string[] {
    const each = keys.map((key) => this.#one(beside, key));
    return each[0]!.flatMap((_, index) => each.map((names) => names[index]!));
  }

  #lock(key: string): string {
    const lock = this.prefix + key;
    return this.#mayCollide ? lock.replace(RESERVED, '$1%$2') : lock;
  }

  #one(beside: readonly string[], key: string): string[] {
    const lock = this.#mayCollide ? this.#lock(key) : this.prefix + key;
    const name = this.#clientPrefix + lock;
    const tag = BRACE.test(name) ? slotTag(name) : name; // without a brace, a name is its own tag
    const rest = tag === lock ? '' : `:${lock}`;
    const names = [lock];
    const slot = `{${tag}}:`;
    for (const what of beside)
      names.push(what === 'fence' && this.#marks ? this.#marks.nameFor(lock) : slot + what + rest);
    return names;
  }
}
