/**
 * What the holders of one process, who have a lock one after the other, know of the other processes: whether one waits, and
 * how often the lock was passed on since.
 */
export class Tenure {
  isContended: boolean;
  /** Fencing tokens that may still be given to next holders. */
  tokensLeft: number;
  #passesWhileContended = 0;

  constructor(isContended: boolean, tokensLeft: number) {
    this.isContended = isContended;
    this.tokensLeft = tokensLeft;
  }

  /** Counts one more pass. `false`: `limit` of them were made while another process waits. */
  mayPass(limit: number): boolean {
    return !this.isContended || ++this.#passesWhileContended <= limit;
  }
}
