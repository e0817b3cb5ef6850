import type { Connection } from './connection.js';

/** The life of one node: from before it is made until it is gone. */
export class Tenure {
  /** Missing until the node is known. */
  path: string | undefined;
  readonly #lost = new AbortController();
  #isLosing = false;

  /** `isOutlived` says whether the session's time is up, though no timer could run yet. */
  constructor(isOutlived: () => boolean) {
    const { signal } = this.#lost;
    const isAborted = () =>
      Reflect.get<AbortSignal, 'aborted'>(AbortSignal.prototype, 'aborted', signal);
    // Who asks after a blocked event loop is told the truth; no listener is called from within the question.
    Object.defineProperty(signal, 'aborted', {
      get: () => isAborted() || (!this.#isLosing && isOutlived()),
    });
  }

  /** Aborts when the node is gone, with its session or by somebody else's hand. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  lose(error: Error): void {
    this.#isLosing = true;
    this.#lost.abort(error);
  }

  /** Finds out whether the node is still there. */
  async lookAfter(connection: Connection): Promise<void> {
    const { path } = this;
    if (path === undefined || (await connection.read(path))) return;
    this.lose(new Error(`${path} was deleted at ZooKeeper`));
  }
}
