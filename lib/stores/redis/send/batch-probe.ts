/** A single command of an event-loop turn is not worth holding back. Number of turns between two checks of that. */
const PROBE_EVERY = 8;

/** Whether turns of the event loop hold more than one command, judged by the last turn checked (`bench/paced.mjs`). */
export class BatchProbe {
  #isShared = false;
  #alone = 0;

  /** For the first command of a turn: whether it goes at once. If not, `looked` gets the turn's count. */
  goesAtOnce(): boolean {
    return !this.#isShared && ++this.#alone % PROBE_EVERY > 0;
  }

  /** A turn with this many commands is over. */
  looked(commands: number): void {
    this.#isShared = commands > 1;
  }
}
