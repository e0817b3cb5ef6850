import type {
  EvictRequest,
  HolderAnswer,
  NamedHolder,
  TakenKey,
} from '../../../core/contract/lock-store.js';
import { isShared } from '../../../core/sharing/hold-mode.js';
import { askingText, readHolder } from '../../kit/asked-holder.js';
import type { EvictionSteps } from '../../kit/evictions.js';
import type { Connection } from '../client/connection.js';
import { ConnectionLossError } from '../client/zookeeper-errors.js';
import type { KeyNodes } from '../names/key-nodes.js';
import { nodesOf } from '../names/node-names.js';
import { nodesFrom } from '../names/place-of-node.js';
import { planOf } from '../nodes/node-creation.js';
import type { Session } from '../session/session.js';
import type { Sessions } from '../session/sessions.js';

/** The first node of a queue, and whether the named holder has it. */
interface Seen {
  readonly answer: HolderAnswer;
  /** Missing where there is none. */
  readonly first?: string;
  readonly names: readonly string[];
  /** It was asked to stop. */
  readonly isAsked?: boolean;
}

/**
 * Takes keys from their holders. One transaction removes the node of the holder, gives the queue a new number, which is larger than
 * the token of the holder, and creates a node at the end of the queue: the next waiter holds the key then, or the node where there is none.
 */
export class ZooKeeperEvictions implements EvictionSteps {
  readonly #sessions: Sessions;
  readonly #within: number;

  /** `within`: milliseconds for a connection. */
  constructor(sessions: Sessions, within: number) {
    this.#sessions = sessions;
    this.#within = within;
  }

  ask(named: NamedHolder, grace: number): Promise<HolderAnswer> {
    return this.#retried((connection, keyNodes) => ask(connection, keyNodes, named, grace));
  }

  take(request: EvictRequest): Promise<HolderAnswer> {
    return this.#retried((connection, keyNodes, session) =>
      take(connection, session, keyNodes, request),
    );
  }

  #retried<T>(
    step: (connection: Connection, keyNodes: KeyNodes, session: Session) => Promise<T>,
  ): Promise<T> {
    const limits = { within: this.#within };
    return this.#sessions.use((session, keyNodes) =>
      session.retry((connection) => step(connection, keyNodes, session), limits),
    );
  }
}

/** A token is the transaction that made the node of its holder, or one that has numbered the queue, and named the node. */
async function look(connection: Connection, keys: KeyNodes, named: NamedHolder): Promise<Seen> {
  const parent = keys.pathOf(named.key);
  await connection.check([keys.root]); // no server answers with old data then
  for (;;) {
    const names = (await connection.children(parent))?.names ?? [];
    const [first] = nodesOf(names);
    if (!first) return { answer: { state: 'other' }, names };
    const read = (path: string) => connection.read(path);
    const [own, queue] = await Promise.all([read(`${parent}/${first.name}`), read(parent)]);
    if (!own || !queue) continue; // it has gone meanwhile
    const { holder: text, grace } = readHolder(own.data.toString());
    const holder = text || undefined;
    if (isShared(first.permits)) return { answer: { state: 'shared', holder }, names };
    const { writtenAt } = queue;
    const isNumbered = queue.data.toString() === first.name && writtenAt === named.fencingToken;
    const state = isNumbered || own.czxid === named.fencingToken ? 'held' : 'other';
    const fencingToken = writtenAt > own.czxid ? writtenAt : own.czxid;
    const isAsked = grace !== undefined;
    return { answer: { state, holder, fencingToken }, first: first.name, names, isAsked };
  }
}

/** Writes to the node of the holder, which watches it. A refused write leaves the holder to learn it later. */
async function ask(
  connection: Connection,
  keys: KeyNodes,
  named: NamedHolder,
  grace: number,
): Promise<HolderAnswer> {
  const { answer, first, isAsked } = await look(connection, keys, named);
  if (answer.state !== 'held' || isAsked) return answer;
  const node = `${keys.pathOf(named.key)}/${first!}`;
  const text = askingText(answer.holder ?? '', grace);
  await connection.writeAll([node], Buffer.from(text)).catch(unlessLost);
  return answer;
}

function unlessLost(error: unknown): void {
  if (error instanceof ConnectionLossError) throw error;
}

async function take(
  connection: Connection,
  session: Session,
  keys: KeyNodes,
  request: EvictRequest,
): Promise<HolderAnswer> {
  const { parents, prefix, data } = planOf(keys, request);
  const parent = parents[0]!;
  for (;;) {
    const { answer, first, names } = await look(connection, keys, request);
    for (const name of nodesFrom(prefix, names)) {
      const taken = await takenAt(connection, session, `${parent}/${name}`);
      if (taken) return { state: 'taken', taken }; // by a transaction whose answer was lost
    }
    if (answer.state !== 'held') return answer;
    const path = await keys.replace(connection, `${parent}/${first!}`, `${parent}/${prefix}`, data);
    const taken = path && (await takenAt(connection, session, path));
    if (taken) return { ...answer, state: 'taken', taken };
  }
}

/** The node of an eviction, if this session has made it. */
async function takenAt(
  connection: Connection,
  session: Session,
  path: string,
): Promise<TakenKey | undefined> {
  const own = await connection.read(path);
  if (!own?.isOurs) return undefined;
  const release = () => session.retry((each) => each.remove(path));
  return { fencingToken: own.czxid, release };
}
