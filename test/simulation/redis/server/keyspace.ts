/** The value of a key: a string, or a sorted set. */
export interface Value {
  readonly value: string | Map<string, number>;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

/** The keys of a server, and when they end. */
export class Keyspace {
  #keys = new Map<string, Value>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  get(key: string): Value | undefined {
    const found = this.#keys.get(key);
    if (!found || found.expiresAt > this.#now()) return found;
    this.#keys.delete(key);
    return undefined;
  }

  set(key: string, value: Value['value'], expiresAt = Infinity): void {
    this.#keys.set(key, { value, expiresAt });
  }

  delete(key: string): boolean {
    return this.get(key) !== undefined && this.#keys.delete(key);
  }

  get names(): string[] {
    return [...this.#keys.keys()].filter((key) => this.get(key));
  }

  /** As it is now: for a replica, which takes it over. */
  copy(): ReadonlyMap<string, Value> {
    return new Map(
      [...this.#keys].map(([key, { value, expiresAt }]) => [
        key,
        { value: typeof value === 'string' ? value : new Map(value), expiresAt },
      ]),
    );
  }

  replace(keys: ReadonlyMap<string, Value>): void {
    this.#keys = new Map(keys);
  }
}
