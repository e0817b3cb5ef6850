import { LockPermitsError } from '../../core/lock-errors.js';
import type { Connection } from './connection.js';
import { placeOf } from './line.js';
import type { Place } from './line.js';
import { lineOf } from './lines.js';
import type { NodePlan } from './node-creation.js';
import type { Session } from './session.js';

/** Where the node at `path` stands. */
type NodePlace = Place & { readonly path: string };
type Waiting = NodePlace & { readonly state: 'waits' };

/**
 * Where the nodes of one request stand. They hold the lock when each of them does.
 *
 * Looks reject when one is gone, and the first one with `LockPermitsError` when those who came before share a key with
 * other permits.
 */
export class NodePlaces {
  readonly #session: Session;
  readonly #plan: NodePlan;
  readonly #nodes: readonly string[];
  /** The versions that the awaited nodes had before a look. */
  readonly #seen = new Map<string, number>();
  #czxid: bigint | undefined;
  #isAgreed = false;

  constructor(session: Session, plan: NodePlan, nodes: readonly string[]) {
    this.#session = session;
    this.#plan = plan;
    this.#nodes = nodes;
  }

  /** The transaction that created them. Known after a look, where they exclude everybody else. */
  get czxid(): bigint | undefined {
    return this.#czxid;
  }

  /** Resolves with a place that waits. `undefined`: all hold. */
  async look(): Promise<Waiting | undefined> {
    const [isThere, ...places] = await this.#session.retry((connection) =>
      Promise.all([
        this.#learnCzxid(connection),
        ...this.#nodes.map((path) => placeAt(connection, path)),
      ]),
    );
    if (!isThere || places.some(({ state }) => state === 'gone')) throw this.goneError();
    const waiting = places.filter((place) => place.state === 'waits');
    this.#agree(waiting);
    if (waiting.length === 0) this.#tellNext(places);
    return waiting[0];
  }

  /** Rejects also with `signal.reason`. */
  async untilAllHold(signal: AbortSignal): Promise<void> {
    for (;;) {
      const place = await this.look();
      signal.throwIfAborted();
      if (!place) return;
      await this.#session.attempt((connection) => this.#untilOver(connection, place, signal));
    }
  }

  goneError(): Error {
    return new Error(`${this.#nodes.join(' or ')} was deleted at ZooKeeper`);
  }

  /** Resolves `false` when there is none. */
  async #learnCzxid(connection: Connection): Promise<boolean> {
    if (this.#plan.permits !== undefined || this.#czxid !== undefined) return true;
    const content = await connection.read(this.#nodes[0]!);
    if (content?.isOurs) this.#czxid = content.czxid;
    return this.#czxid !== undefined;
  }

  /** Resolves when the place may be another one. */
  async #untilOver(
    { watches }: Connection,
    { path, awaits }: Waiting,
    signal: AbortSignal,
  ): Promise<void> {
    const line = lineOf(path);
    if ('names' in awaits) return watches.untilChildren(line, awaits.names, signal);
    const { node, until } = awaits;
    const seen = until === 'gone' ? Infinity : (this.#seen.get(node) ?? 0);
    this.#seen.set(node, await watches.untilNode(`${line}/${node}`, seen, signal));
  }

  #agree(places: readonly Waiting[]): void {
    const { keys, permits } = this.#plan;
    const other = places.find(({ inUse }) => inUse !== undefined);
    if (other && !this.#isAgreed)
      throw new LockPermitsError(keys[this.#nodes.indexOf(other.path)]!, permits!, other.inUse!);
    this.#isAgreed = true;
  }

  /** Whoever stands right behind may be waiting for it to be written to. It hears at the latest when it is gone. */
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
  const line = lineOf(path);
  const names = (await connection.children(line)) ?? [];
  return { ...placeOf(path.slice(line.length + 1), names), path };
}
