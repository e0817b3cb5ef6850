import type { Connection } from './connection.js';
import { nodesFrom, placeOf } from './line.js';
import type { Place } from './line.js';
import type { Lines } from './lines.js';
import type { Patience, Session } from './session.js';
import type { Tenure } from './tenure.js';
import { SessionEndedError } from './zookeeper-errors.js';

/** What a node is made of. */
export interface NodePlan {
  /** The node of the key. */
  readonly line: string;
  /** What the name begins with: it names the request, so that a node whose creation was not answered is found again. */
  readonly prefix: string;
  readonly data: Buffer;
}

/** A request's own node in the line of a key. */
export class LockNode {
  readonly #lines: Lines;
  readonly #session: Session;
  readonly #tenure: Tenure;
  readonly #line: string;
  readonly #path: string;
  readonly #gone: (() => void)[] = [];
  #czxid: bigint | undefined;
  #left: Promise<boolean> | undefined;

  /** Makes the node. Leaves none behind when it rejects. */
  static async enter(
    lines: Lines,
    session: Session,
    plan: NodePlan,
    patience: Patience,
  ): Promise<LockNode> {
    const tenure = session.enter();
    try {
      tenure.path = await create(lines, session, plan, patience);
      return new LockNode(lines, session, tenure, plan.line);
    } catch (error) {
      session.leave(tenure);
      throw error;
    }
  }

  private constructor(lines: Lines, session: Session, tenure: Tenure, line: string) {
    this.#lines = lines;
    this.#session = session;
    this.#tenure = tenure;
    this.#line = line;
    this.#path = tenure.path!;
    tenure.lost.addEventListener('abort', () => this.#end(), { once: true });
  }

  /** Aborts when the node is gone by itself: with its session, say. */
  get lost(): AbortSignal {
    return this.#tenure.lost;
  }

  /** Nobody has begun to remove it. */
  get isOurs(): boolean {
    return this.#left === undefined && !this.lost.aborted;
  }

  /** The transaction that created it. Known once its place is. */
  get czxid(): bigint {
    return this.#czxid!;
  }

  /** Calls `listener` when it is lost or left. */
  onGone(listener: () => void): void {
    this.#gone.push(listener);
  }

  /** Where it stands now. */
  place(): Promise<Place> {
    return this.#session.retry(async (connection) => {
      const [children = [], isThere] = await Promise.all([
        connection.children(this.#line),
        this.#czxid !== undefined || this.#read(connection),
      ]);
      return isThere ? placeOf(this.#name, children) : { state: 'gone' };
    });
  }

  /** Looks whether it is still there, once there is a connection. */
  async isThere(): Promise<boolean> {
    if (!this.isOurs) return false;
    try {
      const isThere = await this.#session.retry((connection) => this.#read(connection));
      if (!isThere) this.#end();
      return isThere && this.isOurs;
    } catch (error) {
      if (error instanceof SessionEndedError) return false;
      throw error;
    }
  }

  /** Resolves when it holds the lock. Rejects with `signal.reason`, and when it is gone. */
  async untilItHolds(signal: AbortSignal): Promise<void> {
    const { lost } = this.#tenure;
    const end = new AbortController(); // `AbortSignal.any` would be kept by a signal that lives long
    const stop = () => end.abort((lost.aborted ? lost : signal).reason);
    for (const each of [signal, lost]) each.addEventListener('abort', stop, { once: true });
    if (signal.aborted || lost.aborted) stop();
    try {
      await this.#wait(end.signal);
    } finally {
      for (const each of [signal, lost]) each.removeEventListener('abort', stop);
    }
  }

  /** Removes it, as soon as there is a connection. Resolves `false` when it was gone, or went with its session. */
  leave(): Promise<boolean> {
    this.#left ??= this.#remove();
    return this.#left;
  }

  goneError(): Error {
    return new Error(`${this.#path} was deleted at ZooKeeper`);
  }

  async #wait(signal: AbortSignal): Promise<void> {
    for (;;) {
      const place = await this.place();
      signal.throwIfAborted();
      if (place.state === 'holds') return;
      if (place.state === 'gone') throw this.goneError();
      await this.#session.attempt((connection) =>
        connection.untilChanged(`${this.#line}/${place.watch}`, signal),
      );
    }
  }

  async #remove(): Promise<boolean> {
    const session = this.#session;
    try {
      const wasThere = await session.retry(
        async (connection, isRepeated) => (await connection.remove(this.#path)) || isRepeated,
      );
      session.attempt((connection) => this.#lines.tidy(connection, this.#line)).catch(() => {});
      return wasThere;
    } catch (error) {
      if (error instanceof SessionEndedError) return false;
      throw error;
    } finally {
      this.#end();
    }
  }

  #end(): void {
    this.#session.leave(this.#tenure);
    for (const listener of this.#gone.splice(0)) listener();
  }

  async #read(connection: Connection): Promise<boolean> {
    const content = await connection.read(this.#path);
    if (!content?.isOurs) return false;
    this.#czxid = content.czxid;
    return true;
  }

  get #name(): string {
    return this.#path.slice(this.#line.length + 1);
  }
}

/**
 * A create whose reply was lost may have been done: the node is looked for first, after a write that makes sure that this
 * server knows of it. It counts only if it is this session's: that of another one may go at any time.
 */
function create(
  lines: Lines,
  session: Session,
  { line, prefix, data }: NodePlan,
  patience: Patience,
): Promise<string> {
  return session.retry(async (connection, isRepeated) => {
    if (isRepeated) {
      await connection.check([lines.root]);
      for (const name of nodesFrom(prefix, (await connection.children(line)) ?? [])) {
        const path = `${line}/${name}`;
        if ((await connection.read(path))?.isOurs) return path;
      }
    }
    return lines.enter(connection, `${line}/${prefix}`, data);
  }, patience);
}
