/** The connection to a server at one moment: `losses` changes when it is lost, `runId` is new for every start of a server. */
export interface Connected {
  readonly losses: unknown;
  /** As last read. */
  readonly runId?: string | undefined;
}

/** The connection to the server. */
export interface WatchedWay {
  readonly connected: Connected;
  /** Is `connected`, where it is known and one server's. */
  readonly link?: Connected | undefined;
  /** Asks the server. */
  readRunId(): Promise<string | undefined>;
}

/**
 * Decides about releases that found no lock. A client sends a command again after a reconnect when its reply was lost, and a
 * release that was applied already then finds no lock. It counts as made where the server is the same as before and the key
 * cannot have ended by its ttl. A manual deletion of the key meanwhile goes unnoticed.
 */
export class SentAgain {
  readonly #way: WatchedWay;

  constructor(way: WatchedWay) {
    this.#way = way;
  }

  /** As `decision`, of a request for `released` that has just been sent. */
  decided(released: Promise<boolean>, isValid?: () => boolean): Promise<boolean> {
    return released.then(this.decision(isValid));
  }

  /**
   * What the answer to a release means that is sent now. The result rejects where a repeated command to one server cannot be ruled
   * out; a caller without `isValid` does not care.
   */
  decision(isValid?: () => boolean): (wasOurs: boolean) => boolean | Promise<boolean> {
    if (!isValid) return (wasOurs) => wasOurs;
    const { losses, runId } = this.#way.link ?? this.#way.connected;
    return (wasOurs) => {
      if (wasOurs || losses === this.#way.connected.losses) return wasOurs;
      return this.#isMade(runId, isValid());
    };
  }

  async #isMade(runId: string | undefined, isValid: boolean): Promise<boolean> {
    const isSame = isValid && runId !== undefined && runId === (await this.#way.readRunId());
    if (isSame) return true;
    throw new Error('the connection was lost meanwhile: it is unknown whether this freed the key');
  }
}
