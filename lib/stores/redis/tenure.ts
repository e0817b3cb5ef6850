import { systemClock } from '../../core/clock.js';

/** Milliseconds after which the server is asked again, for a key may be lost without a word: `FLUSHALL`, a restart. */
const LONGEST_TRUST = 1_000;

/**
 * What the holders of one process, who have a lock one after the other, know of the server: the fencing tokens that are
 * theirs, whether another process waits, and how often the lock was passed on since.
 */
export class Tenure {
  #isContended = false;
  #tokensLeft = 0;
  #askedAt = 0;
  #passesWhileContended = 0;

  /** The server has confirmed the lock, with a block of `tokens`. */
  confirm(tokens: number, isContended: boolean): void {
    this.#tokensLeft = tokens;
    this.#askedAt = systemClock.now();
    if (isContended) this.#isContended = true;
  }

  contend(): void {
    this.#isContended = true;
  }

  /** The server has to be asked before the next pass. */
  doubt(): void {
    this.#tokensLeft = 0;
    this.#isContended = true;
  }

  /** Counts one more pass. `false`: `limit` of them were made while another process waits. */
  mayPass(limit: number): boolean {
    return !this.#isContended || ++this.#passesWhileContended <= limit;
  }

  /** Takes one of the tokens. `false`: the server has to be asked. */
  takeToken(): boolean {
    if (systemClock.now() - this.#askedAt > LONGEST_TRUST) this.#tokensLeft = 0;
    if (this.#tokensLeft === 0) return false;
    this.#tokensLeft--;
    return true;
  }
}
