import type { Connection } from '../client/connection.js';
import { NodeLifetime } from './node-lifetime.js';

/** Nodes that one heartbeat checks, and those of the same request. */
const NODES_PER_BEAT = 100;

/** Those of one session. */
export class NodeLifetimes {
  readonly #all = new Set<NodeLifetime>();

  add(lifetime: NodeLifetime): void {
    this.#all.add(lifetime);
  }

  remove(lifetime: NodeLifetime): void {
    this.#all.delete(lifetime);
  }

  /** Checks nodes, which another client may have deleted. The next call takes the nodes that this one has no room for. */
  async lookAfter(connection: Connection, root: string): Promise<void> {
    const some = this.#next();
    const paths = some.flatMap((lifetime) => lifetime.paths);
    if (await connection.check(paths.length > 0 ? paths : [root])) return;
    await Promise.all(some.map((lifetime) => lifetime.lookAfter(connection)));
    for (const lifetime of some) if (lifetime.lost.aborted) this.remove(lifetime);
  }

  loseAll(error: Error): void {
    const all = [...this.#all];
    this.#all.clear();
    for (const lifetime of all) lifetime.lose(error);
  }

  #next(): NodeLifetime[] {
    const some: NodeLifetime[] = [];
    let count = 0;
    for (const lifetime of this.#all) {
      if (count >= NODES_PER_BEAT) break;
      if (lifetime.paths.length > 0) some.push(lifetime);
      count += lifetime.paths.length;
    }
    for (const lifetime of some) {
      this.#all.delete(lifetime);
      this.#all.add(lifetime);
    }
    return some;
  }
}
