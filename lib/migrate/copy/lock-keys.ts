import { globOfStart } from '../../redis-client/scan-client.js';
import type { AdminServer } from './admin-client.js';

/** Names in one reply of the server. */
const PAGE = 500;
/** `{lock:order:42}:fence`, or with the lock behind it where the lock's name has braces. */
const BESIDE = /^\{([^}]*)\}:(fence|line|shared)(?::([\s\S]*))?$/;

/** The names of the keys of all locks of one store: by `keyPrefix`, behind the client's own `clientPrefix`. */
export class LockKeys {
  readonly #keyPrefix: string;
  readonly #clientPrefix: string;

  constructor(keyPrefix: string, clientPrefix: string) {
    this.#keyPrefix = keyPrefix;
    this.#clientPrefix = clientPrefix;
  }

  /** Each name once or more often. */
  async *all(server: AdminServer): AsyncGenerator<readonly string[]> {
    for (const start of [this.#clientPrefix + this.#keyPrefix, `${this.#clientPrefix}{`]) {
      let cursor = '0';
      do {
        const [next, names] = await server.list('SCAN', cursor, 'MATCH', globOfStart(start), 'COUNT', PAGE); // prettier-ignore
        cursor = String(next);
        yield (names as readonly string[]).filter((name) => this.#isOurs(name));
      } while (cursor !== '0');
    }
  }

  /** The queue is not copied: its waiters enter that of the new server. */
  isLine(name: string): boolean {
    return BESIDE.exec(this.#without(name))?.[2] === 'line';
  }

  isCounter(name: string): boolean {
    return BESIDE.exec(this.#without(name))?.[2] === 'fence';
  }

  #isOurs(name: string): boolean {
    const own = this.#without(name);
    const beside = BESIDE.exec(own);
    if (!beside) return own.startsWith(this.#keyPrefix);
    const [, tag, , lock] = beside;
    return lock === undefined
      ? tag!.startsWith(this.#clientPrefix + this.#keyPrefix)
      : lock.startsWith(this.#keyPrefix);
  }

  #without(name: string): string {
    return name.slice(this.#clientPrefix.length);
  }
}
