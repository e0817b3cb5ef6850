/** The oldest beyond these are forgotten. */
const MOST = 10_000;

/** A holder's value, and the smallest counter that it was seen with: its token is not larger. */
interface Seen {
  readonly value: string;
  readonly token: bigint;
}

/**
 * Holders that this process has told its callers about. An eviction that names what was told can mean them, whatever other locks
 * have done to the counter since.
 */
export class SeenHolders {
  readonly #byKey = new Map<string, Seen>();

  /** `value` has the key while the counter is `token`, and is no claim. */
  note(key: string, value: string, token: bigint): void {
    const known = this.#byKey.get(key);
    if (known?.value === value && known.token <= token) return;
    this.#byKey.delete(key);
    this.#byKey.set(key, { value, token });
    if (this.#byKey.size > MOST) this.#byKey.delete(this.#byKey.keys().next().value!);
  }

  /** The holder that had the key while the counter was at most `token`, if one was seen. */
  find(key: string, token: bigint): string | undefined {
    const known = this.#byKey.get(key);
    return known && known.token <= token ? known.value : undefined;
  }
}
