import { slotTag } from './cluster-slot.js';

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
    if (keys.length === 1) return this.#one(keys[0]!);
    const each = keys.map((key) => this.#one(key));
    return [0, 1, 2].flatMap((index) => each.map((names) => names[index]!));
  }

  /** As `all`, then the sets of those who share them. */
  shared(keys: readonly string[]): readonly string[] {
    const sets = this.locks(keys).map((lock) => {
      const tag = this.#tagOf(lock);
      return tag === lock ? `{${lock}}:shared` : `{${tag}}:shared:${lock}`;
    });
    return [...this.all(keys), ...sets];
  }

  #one(key: string): readonly string[] {
    const lock = this.#prefix + key;
    const tag = this.#tagOf(lock);
    return tag === lock
      ? [lock, `{${lock}}:fence`, `{${lock}}:queue`]
      : [lock, `{${tag}}:fence:${lock}`, `{${tag}}:queue:${lock}`];
  }

  #tagOf(lock: string): string {
    return slotTag(this.#clientPrefix + lock);
  }
}
