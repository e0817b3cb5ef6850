import { systemClock } from '../../../core/async/clock.js';
import type { NamedHolder } from '../../../core/contract/lock-store.js';
import { remember } from '../keys/seen-holders.js';

/** Milliseconds for a process to say that its present holder is a later one. */
const ANSWER_WITHIN = 500;

interface Asked {
  readonly token: bigint;
  readonly at: number;
}

/**
 * What processes have said of their present holders. Those that pass a lock on inside their process keep its value, so that the value
 * alone does not tell who has it.
 */
export class LaterHolders {
  readonly #asked = new Map<string, Asked>();
  readonly #tokens = new Map<string, bigint>();

  /** A question about the named holder is sent, whose answer could be heard. */
  asked({ key, fencingToken: token }: NamedHolder): void {
    if (this.#asked.get(key)?.token !== token)
      remember(this.#asked, key, { token, at: systemClock.now() });
  }

  /** The present holder of the key has this token. */
  heard(key: string, token: bigint): void {
    if (token > (this.#tokens.get(key) ?? 0n)) remember(this.#tokens, key, token);
  }

  /** The named holder has passed the key on. */
  isAfter({ key, fencingToken }: NamedHolder): boolean {
    return (this.#tokens.get(key) ?? 0n) > fencingToken;
  }

  /** Whether the process of the holder had its time to answer, and did not. To be asked once for each question. */
  isSilent({ key, fencingToken }: NamedHolder): boolean {
    const asked = this.#asked.get(key);
    this.#asked.delete(key);
    return asked?.token === fencingToken && systemClock.now() - asked.at >= ANSWER_WITHIN;
  }
}
