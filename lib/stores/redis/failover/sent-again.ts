/** The way to the server: `losses` changes when a connection is lost, `runId` is new for every start of a server. */
export interface WatchedWay {
  readonly losses: unknown;
  /** Of the server, when it was read last. */
  readonly runId: string | undefined;
  /** Asks the server. */
  readRunId(): Promise<string | undefined>;
}

/**
 * Decides about releases that found nothing. A client sends a command whose reply was lost again after a reconnect, and a release
 * that was made already finds nothing then. It counts as made where the server is the same as before and the key cannot have ended by
 * its ttl. Somebody may have deleted the key by hand meanwhile: that goes unnoticed.
 */
export class SentAgain {
  readonly #way: WatchedWay;

  constructor(way: WatchedWay) {
    this.#way = way;
  }

  /**
   * To be called when `released` has just been asked for. Rejects where nobody knows whether it was sent twice to one server; the caller
   * that has no `isValid` does not care.
   */
  decided(released: Promise<boolean>, isValid?: () => boolean): Promise<boolean> {
    if (!isValid) return released;
    const { losses, runId } = this.#way;
    return released.then(
      (wasOurs) => wasOurs || (losses !== this.#way.losses && this.#isMade(runId, isValid())),
    );
  }

  async #isMade(runId: string | undefined, isValid: boolean): Promise<boolean> {
    const isSame = isValid && runId !== undefined && runId === (await this.#way.readRunId());
    if (isSame) return true;
    throw new Error('the connection was lost meanwhile: nobody knows whether this freed the key');
  }
}
