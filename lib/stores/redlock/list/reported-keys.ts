const MOST_LISTS = 8;
const MOST_KEYS = 100_000;

/**
 * The keys that a list has told, so that it tells none again at the next node. Lists that no caller continues are forgotten. A list
 * that was forgotten, or was begun in another process, tells some keys again.
 */
export class ReportedKeys {
  readonly #lists = new Map<string, Set<string>>();

  has(list: string, key: string): boolean {
    return this.#lists.get(list)?.has(key) ?? false;
  }

  add(list: string, key: string): void {
    const keys = this.#lists.get(list) ?? new Set();
    this.#lists.delete(list); // the one that was used last comes last
    this.#lists.set(list, keys);
    if (keys.size < MOST_KEYS) keys.add(key);
    const [oldest] = this.#lists.keys();
    if (this.#lists.size > MOST_LISTS) this.#lists.delete(oldest!);
  }

  forget(list: string): void {
    this.#lists.delete(list);
  }
}
