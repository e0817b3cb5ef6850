import type { Connection } from './connection.js';
import { nodesFrom } from './line.js';
import type { Lines } from './lines.js';
import type { Patience, Session } from './session.js';

/** What the nodes of a request are made of: one in the line of each key, all made by one transaction. */
export interface NodePlan {
  readonly keys: readonly string[];
  /** The nodes of the keys. */
  readonly lines: readonly string[];
  /** As in `AcquireRequest`. */
  readonly permits: number | undefined;
  /** What the names begin with: it names the request, so that nodes whose creation was not answered are found again. */
  readonly prefix: string;
  readonly data: Buffer;
}

/**
 * Resolves with the paths of the new nodes, in the order of the lines. A creation whose reply was lost may have been done: the
 * nodes are looked for first, after a write that makes sure that this server knows of them. They count only if they are this
 * session's, for those of another one may go at any time, and only if all are there.
 */
export function createNodes(
  lines: Lines,
  session: Session,
  plan: NodePlan,
  patience: Patience,
): Promise<string[]> {
  return session.retry(async (connection, isRepeated) => {
    if (isRepeated) {
      await connection.check([lines.root]);
      const found = await findNodes(connection, plan);
      if (found.every((path) => path !== undefined)) return found;
      await Promise.all(found.map(async (path) => path && (await connection.remove(path))));
    }
    const { prefix, data } = plan;
    const paths = plan.lines.map((line) => `${line}/${prefix}`);
    return lines.enter(connection, paths, data);
  }, patience);
}

/** What this session has made of the plan: one path for each line, `undefined` where there is none. */
function findNodes(connection: Connection, { lines, prefix }: NodePlan) {
  return Promise.all(
    lines.map(async (line) => {
      for (const name of nodesFrom(prefix, (await connection.children(line)) ?? [])) {
        const path = `${line}/${name}`;
        if ((await connection.read(path))?.isOurs) return path;
      }
      return undefined;
    }),
  );
}
