import { UnknownAnswerError } from '../../core/contract/unknown-answer.js';
import type { Connection } from './connection.js';
import { insist } from './insistence.js';
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
 * session's, for those of another one may go at any time, and only if all are there. Where it fails, none stays.
 */
export async function createNodes(
  lines: Lines,
  session: Session,
  plan: NodePlan,
  patience: Patience,
): Promise<string[]> {
  let isInDoubt = false;
  const create = async (connection: Connection, isRepeated: boolean) => {
    isInDoubt = isRepeated;
    if (isInDoubt) {
      const found = await findNodes(connection, lines, plan);
      if (found.every((path) => path !== undefined)) return found;
      await removeAll(connection, found);
    }
    const paths = plan.lines.map((line) => `${line}/${plan.prefix}`);
    return lines.enter(connection, paths, plan.data);
  };
  try {
    return await session.retry(create, patience);
  } catch (error) {
    if (isInDoubt || error instanceof UnknownAnswerError) takeBack(lines, session, plan);
    throw error;
  }
}

/** What this session has made of the plan: one path for each line, `undefined` where there is none. */
async function findNodes(connection: Connection, { root }: Lines, plan: NodePlan) {
  await connection.check([root]);
  return Promise.all(
    plan.lines.map(async (line) => {
      for (const name of nodesFrom(plan.prefix, (await connection.children(line)) ?? [])) {
        const path = `${line}/${name}`;
        if ((await connection.read(path))?.isOurs) return path;
      }
      return undefined;
    }),
  );
}

async function removeAll(connection: Connection, paths: readonly (string | undefined)[]) {
  await Promise.all(paths.map(async (path) => path && (await connection.remove(path))));
}

/** Nobody waits for it. */
function takeBack(lines: Lines, session: Session, plan: NodePlan): void {
  const remove = async (connection: Connection) =>
    removeAll(connection, await findNodes(connection, lines, plan));
  insist(session, remove).catch(() => {}); // the session has ended, and they with it
}
