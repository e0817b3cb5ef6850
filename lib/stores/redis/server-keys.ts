import { slotTag } from './cluster-slot.js';

/** What stands beside a lock, in the order in which the scripts want it. */
const BESIDE = ['fence', 'queue'];
const BESIDE_SHARED = [...BESIDE, 'shared'];

/** How the keys of one lock are called on the server. What belongs to a lock is in its slot. */
export class ServerKeys {
  readonly #prefix: string;
  readonly #clientPrefix: string;

  /** `clientPrefix` is what the client puts in front of every key. */
  constructor(prefix: string, clientPrefix: string) {
    this.#prefix = prefix;
    this.#clientPrefix = clientPrefix;
  }

  locks(keys: readonly string[]): readonly string[] {
    return keys.map((key) => this.#prefix + key);
  }

  /** The locks, then their fencing counters, then their queues. */
  all(keys: readonly string[]): readonly string[] {
    return this.#with(BESIDE, keys);
  }

  /** As `all`, then the sets of those who share them. */
  shared(keys: readonly string[]): readonly string[] {
    return this.#with(BESIDE_SHARED, keys);
  }

  #with(beside: readonly string[], keys: readonly string[]): readonly string[] {
    if (keys.length === 1) return this.#one(beside, keys[0]!);
    const each = keys.map((key) => this.#one(beside, key));
    return each[0]!.flatMap((_, index) => each.map((names) => names[index]!));
  }

  #one(beside: readonly string[], key: string): string[] {
    const lock = this.#prefix + key;
    const tag = slotTag(this.#clientPrefix + lock);
    const rest = tag === lock ? '' : `:${lock}`;
    const names = [lock];
    const slot = `{${tag}}:`;
    for (const what of beside) names.push(slot + what + rest);
    return names;
  }
}
