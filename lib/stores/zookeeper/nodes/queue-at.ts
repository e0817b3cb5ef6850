import { UnknownAnswerError } from '../../../core/contract/unknown-answer.js';
import type { Connection } from '../client/connection.js';
import type { Children } from '../client/node-content.js';
import { isDoubtful } from '../names/node-names.js';

type Queue = Omit<Children, 'changedAt'>;

const NONE: Queue = { names: [], numberedAt: 0n, made: 0 };

/**
 * The nodes of a key. One damaged byte would make the holder's node one of another program, or one behind all others, and a waiter the
 * holder. So names that no lock may have are read twice. Rejects where they differ.
 */
export async function queueAt(connection: Connection, parent: string): Promise<Queue> {
  const found = (await connection.children(parent)) ?? NONE;
  const doubts = doubtsOf(found);
  if (doubts === '') return found;
  const again = (await connection.children(parent)) ?? NONE;
  if (doubtsOf(again) === doubts) return again;
  throw new UnknownAnswerError('the nodes of a queue', again.names);
}

function doubtsOf({ names, made }: Queue): string {
  const doubtful = names.filter((name) => isDoubtful(name, made));
  return doubtful.toSorted().join('/');
}
