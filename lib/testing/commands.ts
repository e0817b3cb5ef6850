/** The events that a test has ordered for a key. `held` lets callers wait, `busy` does not. */
export type Command =
  | { readonly kind: 'free' | 'busy' | 'held' }
  | { readonly kind: 'failing'; readonly error: unknown };

/** The commands in force. One for a key goes before the one for every key. */
export class Commands {
  readonly #ofKeys = new Map<string, Command>();
  #ofAll: Command | undefined;
  /** Keys whose next holder loses them; `undefined` stands for every key. */
  readonly #doomed = new Set<string | undefined>();

  /** `key` missing: for every key, and in place of all that was commanded before. */
  give(key: string | undefined, command: Command): void {
    if (key !== undefined) {
      this.#ofKeys.set(key, command);
      return;
    }
    this.#ofKeys.clear();
    this.#ofAll = command;
  }

  /** Takes `command` back, unless another one has replaced it. */
  takeBack(key: string | undefined, command: Command): void {
    if (key === undefined) this.#ofAll = this.#ofAll === command ? undefined : this.#ofAll;
    else if (this.#ofKeys.get(key) === command) this.#ofKeys.delete(key);
  }

  clear(): void {
    this.give(undefined, { kind: 'free' });
    this.#doomed.clear();
  }

  /** The first command that keeps a caller from having all the keys. */
  obstacle(keys: readonly string[]): Command | undefined {
    const commands = keys.map((key) => this.#ofKeys.get(key) ?? this.#ofAll);
    for (const kind of ['failing', 'busy', 'held'] as const) {
      const found = commands.find((command) => command?.kind === kind);
      if (found) return found;
    }
    return undefined;
  }

  /** The keys that no caller gets, those that a command names. */
  taken(): string[] {
    const kinds = [...this.#ofKeys].filter(([, { kind }]) => kind === 'busy' || kind === 'held');
    return kinds.map(([key]) => key);
  }

  /** Throws what the store is to fail with whatever the key. */
  throwIfAllFail(): void {
    if (this.#ofAll?.kind === 'failing') throw this.#ofAll.error;
  }

  /** Throws what the store is to fail with. */
  throwIfFailing(keys: readonly string[]): void {
    const obstacle = this.obstacle(keys);
    if (obstacle?.kind === 'failing') throw obstacle.error;
  }

  /** Lets the next holder of the key lose it. */
  doom(key: string | undefined): void {
    this.#doomed.add(key);
  }

  spare(key: string): void {
    this.#doomed.delete(key);
  }

  /** Whether a holder of these keys is to lose them. Asked once for each grant: the holder after it keeps its own. */
  takeDoom(keys: readonly string[]): boolean {
    const doomed = [...keys, undefined].filter((key) => this.#doomed.delete(key));
    return doomed.length > 0;
  }
}
