import { slotTag } from './cluster-slot.js';

/** How the keys of one lock are called on the server. Each has a fencing counter and a queue, in the slot of the lock. */
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

  /** The locks, then their counters, then their queues. */
  all(keys: readonly string[]): readonly string[] {
    if (keys.length === 1) return this.#one(keys[0]!);
    const each = keys.map((key) => this.#one(key));
    return [0, 1, 2].flatMap((index) => each.map((names) => names[index]!));
  }

  #one(key: string): readonly string[] {
    const lock = this.#prefix + key;
    const tag = slotTag(this.#clientPrefix + lock);
    return tag === lock
      ? [lock, `{${lock}}:fence`, `{${lock}}:queue`]
      : [lock, `{${tag}}:fence:${lock}`, `{${tag}}:queue:${lock}`];
  }
}
