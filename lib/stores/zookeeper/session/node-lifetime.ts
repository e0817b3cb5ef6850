import { tellAtOnce } from '../../../core/async/abort-signals.js';
import type { Connection } from '../client/connection.js';
import type { NodeContent } from '../client/node-content.js';

/** The lifetime of the nodes of one request: from before they are made until one is gone. */
export class NodeLifetime {
  /** Empty until the nodes are known. */
  paths: readonly string[] = [];
  readonly #lost = new AbortController();

  /** `isOutlived` says whether the session's time is up, even if no timer could run yet. */
  constructor(isOutlived: () => boolean) {
    tellAtOnce(this.#lost.signal, isOutlived);
  }

  /** Aborts when one is gone: with its session, or deleted by another client. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  lose(error: Error): void {
    this.#lost.abort(error);
  }

  /** Checks whether the nodes are still there. Resolves with them, by their paths. */
  async lookAfter(connection: Connection): Promise<ReadonlyMap<string, NodeContent | undefined>> {
    const { paths } = this; // a downgrade may add some meanwhile
    const contents = await Promise.all(paths.map((path) => connection.read(path)));
    const gone = paths.find((_, index) => !contents[index]);
    if (gone !== undefined) this.lose(new Error(`${gone} was deleted at ZooKeeper`));
    return new Map(paths.map((path, index) => [path, contents[index]]));
  }
}
