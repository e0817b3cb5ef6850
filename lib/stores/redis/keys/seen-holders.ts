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
  readonly #named = new Map<string, Seen>();

  /** `value` has the key while the counter is `token`, and is no claim. */
  note(key: string, value: string, token: bigint): void {
    const known = this.#byKey.get(key);
    if (known?.value !== value || known.token > token) remember(this.#byKey, key, { value, token });
  }

  /** The holder that had the key while the counter was at most `token`, if one was seen. */
  find(key: string, token: bigint): string | undefined {
    const known = this.#byKey.get(key);
    return known && known.token <= token ? known.value : undefined;
  }

  /** `value` has the key, and is the holder that a caller named by `token`. */
  confirm(key: string, token: bigint, value: string): void {
    remember(this.#named, key, { value: withoutToken(value), token });
  }

  /** Whether the holder named by `token` was confirmed before, and is not `value`. */
  hasGone(key: string, token: bigint, value: string): boolean {
    const named = this.#named.get(key);
    return named?.token === token && named.value !== withoutToken(value);
  }
}

/** Of each key, what was said last. */
export function remember<Said>(said: Map<string, Said>, key: string, what: Said): void {
  said.delete(key);
  said.set(key, what);
  if (said.size > MOST) said.delete(said.keys().next().value!);
}

/** A holder that was asked to stop writes its token into its value. */
function withoutToken(value: string): string {
  return value.replace(/^([^:]*)!\d+:/, '$1:');
}
