import { eitherOf } from '../../core/abort-signals.js';
import type { Connection } from './connection.js';
import { placeOf } from './line.js';
import type { Place } from './line.js';
import { lineOf } from './lines.js';
import type { Lines } from './lines.js';
import { createNodes } from './node-creation.js';
import type { NodePlan } from './node-creation.js';
import type { Patience, Session } from './session.js';
import type { Tenure } from './tenure.js';
import { SessionEndedError } from './zookeeper-errors.js';

/**
 * A request's own nodes, one in the line of each key. One transaction made them, so they stand in all lines in the order of
 * their transactions: no two requests can each be before the other.
 */
export class LockNodes {
  readonly #lines: Lines;
  readonly #session: Session;
  readonly #tenure: Tenure;
  readonly #paths: readonly string[];
  readonly #gone: (() => void)[] = [];
  #czxid: bigint | undefined;
  #left: Promise<boolean> | undefined;

  /** Makes the nodes. Leaves none behind when it rejects. */
  static async enter(
    lines: Lines,
    session: Session,
    plan: NodePlan,
    patience: Patience,
  ): Promise<LockNodes> {
    const tenure = session.enter();
    try {
      tenure.paths = await createNodes(lines, session, plan, patience);
      return new LockNodes(lines, session, tenure);
    } catch (error) {
      session.leave(tenure);
      throw error;
    }
  }

  private constructor(lines: Lines, session: Session, tenure: Tenure) {
    this.#lines = lines;
    this.#session = session;
    this.#tenure = tenure;
    this.#paths = tenure.paths;
    tenure.lost.addEventListener('abort', () => this.#giveUp(), { once: true });
  }

  /** Aborts when one is gone by itself: with its session, say. */
  get lost(): AbortSignal {
    return this.#tenure.lost;
  }

  /** Nobody has begun to remove them. */
  get isOurs(): boolean {
    return this.#left === undefined && !this.lost.aborted;
  }

  /** The transaction that created them. Known once their place is. */
  get czxid(): bigint {
    return this.#czxid!;
  }

  /** Calls `listener` when they are lost or left. */
  onGone(listener: () => void): void {
    this.#gone.push(listener);
  }

  /** Where they stand now: they hold when each does, and one that waits names the path to watch. */
  place(): Promise<Place> {
    return this.#session.retry(async (connection) => {
      const [isThere, ...places] = await Promise.all([
        this.#czxid !== undefined || this.#read(connection, this.#paths[0]!),
        ...this.#paths.map((path) => placeAt(connection, path)),
      ]);
      const gone = places.find(({ state }) => state === 'gone');
      if (!isThere || gone) return { state: 'gone' };
      return places.find(({ state }) => state === 'waits') ?? { state: 'holds' };
    });
  }

  /** Looks whether all are still there, once there is a connection. */
  async isThere(): Promise<boolean> {
    if (!this.isOurs) return false;
    try {
      const areThere = await this.#session.retry((connection) =>
        Promise.all(this.#paths.map((path) => this.#read(connection, path))),
      );
      if (areThere.includes(false)) this.#giveUp();
      return this.isOurs;
    } catch (error) {
      if (error instanceof SessionEndedError) return false;
      throw error;
    }
  }

  /** Resolves when they hold the lock. Rejects with `signal.reason`, and when one is gone. */
  async untilTheyHold(signal: AbortSignal): Promise<void> {
    const over = eitherOf(this.#tenure.lost, signal);
    try {
      await this.#wait(over.signal);
    } finally {
      over.forget();
    }
  }

  /** Removes them, as soon as there is a connection. Resolves `false` when one was gone, or went with its session. */
  leave(): Promise<boolean> {
    this.#left ??= this.#remove();
    return this.#left;
  }

  goneError(): Error {
    return new Error(`${this.#paths.join(' or ')} was deleted at ZooKeeper`);
  }

  async #wait(signal: AbortSignal): Promise<void> {
    for (;;) {
      const place = await this.place();
      signal.throwIfAborted();
      if (place.state === 'holds') return;
      if (place.state === 'gone') throw this.goneError();
      await this.#session.attempt((connection) => connection.untilChanged(place.watch, signal));
    }
  }

  async #remove(): Promise<boolean> {
    const session = this.#session;
    try {
      const wereThere = await session.retry(removal(this.#paths));
      for (const path of this.#paths)
        session.attempt((connection) => this.#lines.tidy(connection, lineOf(path))).catch(() => {});
      return wereThere;
    } catch (error) {
      if (error instanceof SessionEndedError) return false;
      throw error;
    } finally {
      this.#end();
    }
  }

  /** One is gone, so the others are of no use. They may be gone, too. */
  #giveUp(): void {
    this.leave().catch(() => {});
  }

  #end(): void {
    this.#session.leave(this.#tenure);
    for (const listener of this.#gone.splice(0)) listener();
  }

  async #read(connection: Connection, path: string): Promise<boolean> {
    const content = await connection.read(path);
    if (!content?.isOurs) return false;
    this.#czxid = content.czxid;
    return true;
  }
}

async function placeAt(connection: Connection, path: string): Promise<Place> {
  const line = lineOf(path);
  const place = placeOf(path.slice(line.length + 1), (await connection.children(line)) ?? []);
  return place.state === 'waits' ? { ...place, watch: `${line}/${place.watch}` } : place;
}

/** All at once, or those that are left when one was gone. When this is a repetition, all may be: by what was not answered. */
function removal(paths: readonly string[]) {
  let wasOneGone = false;
  return async (connection: Connection, isRepeated: boolean): Promise<boolean> => {
    if (!wasOneGone && (await connection.removeAll(paths))) return true;
    wasOneGone ||= !isRepeated;
    const left = await Promise.all(paths.map((path) => connection.remove(path)));
    return !wasOneGone && !left.includes(true);
  };
}
