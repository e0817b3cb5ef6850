import { systemClock } from '../../../core/async/clock.js';

/** Milliseconds after which the server is asked again, for a key may be lost without notice: `FLUSHALL`, a restart. */
const LONGEST_TRUST = 1_000;

/**
 * Knowledge that consecutive holders of a lock in one process share: their fencing tokens, whether another process waits, and
 * the number of hand-offs since.
 */
export class LocalHandoff {
  #isContended = false;
  #tokensLeft = 0;
  #askedAt = 0;
  #handoffsWhileContended = 0;
  /** Of the present holder. */
  token = 0n;

  /** `freeAt`: when the lock is to be left free for a moment, instead of one more hand-off. */
  constructor(readonly freeAt: number) {}

  /** The server has confirmed the lock, with a block of `tokens`. */
  confirm(tokens: number, isContended: boolean): void {
    this.#tokensLeft = tokens;
    this.#askedAt = systemClock.now();
    if (isContended) this.#isContended = true;
  }

  contend(): void {
    this.#isContended = true;
  }

  /** The server has to be asked before the next hand-off. */
  doubt(): void {
    this.#tokensLeft = 0;
    this.#isContended = true;
  }

  /** Counts one more hand-off. `false`: `limit` of them were made while another process waits. */
  mayHandOff(limit: number): boolean {
    return !this.#isContended || ++this.#handoffsWhileContended <= limit;
  }

  /** Takes one of the tokens. `false`: the server has to be asked. */
  takeToken(now: number): boolean {
    if (now - this.#askedAt > LONGEST_TRUST) this.#tokensLeft = 0;
    if (this.#tokensLeft === 0) return false;
    this.#tokensLeft--;
    return true;
  }
}
