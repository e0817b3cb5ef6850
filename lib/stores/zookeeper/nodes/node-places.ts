import { LockPermitsError } from '../../../core/contract/lock-errors.js';
import type { Connection } from '../client/connection.js';
import { placeOf } from '../names/place-of-node.js';
import type { Place } from '../names/place-of-node.js';
import { parentOf } from '../names/key-nodes.js';
import type { NodePlan } from './node-creation.js';
import { goneError, numberOf } from './numbering.js';
import { queueAt } from './queue-at.js';
import type { Session } from '../session/session.js';
import { isShared } from '../../../core/sharing/hold-mode.js';

/** The place of the node at `path`. */
type NodePlace = Place & {
  readonly path: string;
  /** When its queue was last given a number. */
  readonly numberedAt: bigint;
};
type Waiting = NodePlace & { readonly state: 'waits' };

/**
 * The places of one request's nodes. The request holds the lock when each of its nodes does.
 *
 * Looks reject when one is gone. The first look also rejects with `LockPermitsError` when earlier callers share a key with other
 * permits.
 */
export class NodePlaces {
  readonly #session: Session;
  readonly #plan: NodePlan;
  readonly #nodes: readonly string[];
  /** The versions that the awaited nodes had before a look. */
  readonly #seen = new Map<string, number>();
  #token: bigint | undefined;
  #isAgreed = false;

  constructor(session: Session, plan: NodePlan, nodes: readonly string[]) {
    this.#session = session;
    this.#plan = plan;
    this.#nodes = nodes;
  }

  /**
   * The transaction that created the nodes, or one at which they held, if their queues have a later number. Known once they hold
   * exclusively.
   */
  get token(): bigint | undefined {
    return this.#token;
  }

  /** Resolves with a place that waits. `undefined`: all hold. */
  async look(): Promise<Waiting | undefined> {
    const [isThere, ...places] = await this.#session.retry((connection) =>
      Promise.all([
        this.#learnToken(connection),
        ...this.#nodes.map((path) => placeAt(connection, path)),
      ]),
    );
    if (!isThere || places.some(({ state }) => state === 'gone')) throw this.goneError();
    const waiting = places.filter((place) => place.state === 'waits');
    this.#agree(waiting);
    if (waiting.length === 0) await this.#hold(places);
    return waiting[0];
  }

  /** Also rejects with `signal.reason`. */
  async untilAllHold(signal: AbortSignal): Promise<void> {
    for (;;) {
      const place = await this.look();
      signal.throwIfAborted();
      if (!place) return;
      await this.#session.attempt((connection) => this.#untilOver(connection, place, signal));
    }
  }

  goneError(): Error {
    return goneError(this.#nodes);
  }

  /** Resolves `false` when there is none. */
  async #learnToken(connection: Connection): Promise<boolean> {
    if (isShared(this.#plan.permits) || this.#token !== undefined) return true;
    const content = await connection.read(this.#nodes[0]!);
    if (content?.isOurs) this.#token = content.czxid;
    return this.#token !== undefined;
  }

  /** Resolves when the place may have changed. */
  async #untilOver(
    { watches }: Connection,
    { path, awaits }: Waiting,
    signal: AbortSignal,
  ): Promise<void> {
    const parent = parentOf(path);
    if ('names' in awaits) return watches.untilChildren(parent, awaits.names, signal);
    const { node, until } = awaits;
    const seen = until === 'gone' ? Infinity : (this.#seen.get(node) ?? 0);
    this.#seen.set(node, await watches.untilNode(`${parent}/${node}`, seen, signal));
  }

  #agree(places: readonly Waiting[]): void {
    const { keys, permits } = this.#plan;
    const other = places.find(({ inUse }) => inUse !== undefined);
    if (other && !this.#isAgreed)
      throw new LockPermitsError(keys[this.#nodes.indexOf(other.path)]!, permits!, other.inUse!);
    this.#isAgreed = true;
  }

  /** An earlier holder of several keys may have a larger number than these nodes, which were behind it. */
  async #hold(places: readonly NodePlace[]): Promise<void> {
    const token = this.#token;
    if (token !== undefined && places.some(({ numberedAt }) => numberedAt > token))
      this.#token = await numberOf(this.#session, this.#nodes);
    this.#tellNext(places);
  }

  /** The node right behind may be waiting for a write to this one. At the latest it notices when this one is gone. */
  #tellNext(places: readonly NodePlace[]): void {
    const told = places.filter((place) => place.state === 'holds' && place.tells);
    if (told.length === 0) return;
    const paths = told.map(({ path }) => path);
    this.#session
      .retry((connection) => connection.writeAll(paths, this.#plan.data))
      .catch(() => {});
  }
}

async function placeAt(connection: Connection, path: string): Promise<NodePlace> {
  const parent = parentOf(path);
  const { names, numberedAt } = await queueAt(connection, parent);
  return { ...placeOf(path.slice(parent.length + 1), names), path, numberedAt };
}
