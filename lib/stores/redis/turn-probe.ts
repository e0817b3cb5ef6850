/** What is alone in its turn of the event loop is not worth holding back. How often to look whether that is still so. */
const PROBE_EVERY = 8;

/** Whether the turns of the event loop hold more than one command, judged by the last one that was looked at. */
export class TurnProbe {
  #isShared = false;
  #alone = 0;

  /** To be asked by the first command of a turn: whether it goes at once. If not, `looked` is to be told how the turn was. */
  goesAtOnce(): boolean {
    return !this.#isShared && ++this.#alone % PROBE_EVERY > 0;
  }

  /** A turn that held so many commands is over. */
  looked(commands: number): void {
    this.#isShared = commands > 1;
  }
}
