import type { Connection } from './connection.js';
import { Tenure } from './tenure.js';

/** Nodes that one beat looks after, and those of the same request. */
const NODES_PER_BEAT = 100;

/** Those of one session. */
export class Tenures {
  readonly #all = new Set<Tenure>();

  add(tenure: Tenure): void {
    this.#all.add(tenure);
  }

  remove(tenure: Tenure): void {
    this.#all.delete(tenure);
  }

  /** Looks after nodes, which somebody may have deleted. The next call looks at those that this one has no room for. */
  async lookAfter(connection: Connection, root: string): Promise<void> {
    const some = this.#next();
    const paths = some.flatMap((tenure) => tenure.paths);
    if (await connection.check(paths.length > 0 ? paths : [root])) return;
    await Promise.all(some.map((tenure) => tenure.lookAfter(connection)));
    for (const tenure of some) if (tenure.lost.aborted) this.remove(tenure);
  }

  loseAll(error: Error): void {
    const all = [...this.#all];
    this.#all.clear();
    for (const tenure of all) tenure.lose(error);
  }

  #next(): Tenure[] {
    const some: Tenure[] = [];
    let count = 0;
    for (const tenure of this.#all) {
      if (count >= NODES_PER_BEAT) break;
      if (tenure.paths.length > 0) some.push(tenure);
      count += tenure.paths.length;
    }
    for (const tenure of some) {
      this.#all.delete(tenure);
      this.#all.add(tenure);
    }
    return some;
  }
}
