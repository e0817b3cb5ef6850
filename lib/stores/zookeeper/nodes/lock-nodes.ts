import { eitherOf } from '../../../core/async/abort-signals.js';
import type { Cancel } from '../../../core/async/clock.js';
import { UnknownAnswerError } from '../../../core/contract/unknown-answer.js';
import { insist } from '../session/insistence.js';
import { parentOf } from '../names/key-nodes.js';
import type { KeyNodes } from '../names/key-nodes.js';
import { createNodes } from './node-creation.js';
import type { NodePlan } from './node-creation.js';
import { readerMark } from '../names/node-names.js';
import { NodePlaces } from './node-places.js';
import { removal } from './node-removal.js';
import { watchNodes } from './node-watch.js';
import type { ConnectLimits, Session } from '../session/session.js';
import type { NodeLifetime } from '../session/node-lifetime.js';
import { SessionEndedError } from '../client/zookeeper-errors.js';
import { isShared } from '../../../core/sharing/hold-mode.js';

/** Refused deletions after which the caller is told: a second, by the pauses of `insist`. */
const REFUSALS = 5;

/**
 * A request's own nodes, one in the queue of each key. One transaction made them, so their order in all queues is that of their
 * transactions: no two requests can each be before the other.
 */
export class LockNodes {
  readonly #keyNodes: KeyNodes;
  readonly #session: Session;
  readonly #lifetime: NodeLifetime;
  readonly #plan: NodePlan;
  /** One in the queue of each key. */
  readonly paths: readonly string[];
  readonly #places: NodePlaces;
  readonly #gone: (() => void)[] = [];
  #isShared: boolean;
  #unwatch: Cancel | undefined;
  #downgrading: Promise<boolean> | undefined;
  #left: Promise<boolean> | undefined;

  /** Makes the nodes. Leaves none behind when it rejects. */
  static async enter(
    keyNodes: KeyNodes,
    session: Session,
    plan: NodePlan,
    patience: ConnectLimits,
  ): Promise<LockNodes> {
    const lifetime = session.enter();
    try {
      lifetime.paths = await createNodes(keyNodes, session, plan, patience);
      return new LockNodes(keyNodes, session, lifetime, plan);
    } catch (error) {
      session.leave(lifetime);
      throw error;
    }
  }

  private constructor(keys: KeyNodes, session: Session, lifetime: NodeLifetime, plan: NodePlan) {
    this.#keyNodes = keys;
    this.#session = session;
    this.#lifetime = lifetime;
    this.#plan = plan;
    this.paths = lifetime.paths;
    this.#places = new NodePlaces(session, plan, lifetime.paths);
    this.#isShared = isShared(plan.permits);
    lifetime.lost.addEventListener('abort', () => this.#giveUp(), { once: true });
  }

  /** Aborts when one is gone by itself: with its session, say. */
  get lost(): AbortSignal {
    return this.#lifetime.lost;
  }

  /** Their removal has not begun. */
  get isOurs(): boolean {
    return this.#left === undefined && !this.lost.aborted;
  }

  /** As `NodePlaces.token` says. */
  get fencingToken(): bigint | undefined {
    return this.#isShared ? undefined : this.#places.token;
  }

  /** Calls `listener` when they are lost or left. */
  onGone(listener: () => void): void {
    this.#gone.push(listener);
  }

  /** Whether they hold the lock now. Rejects when one is gone, and like `NodePlaces`. */
  async doHold(): Promise<boolean> {
    return (await this.#places.look()) === undefined;
  }

  /** Resolves when they hold the lock. Rejects with `signal.reason`, and like `doHold`. */
  async untilTheyHold(signal: AbortSignal): Promise<void> {
    const over = eitherOf(this.#lifetime.lost, signal);
    try {
      await this.#places.untilAllHold(over.signal);
    } finally {
      over.forget();
    }
  }

  /** Checks whether all are still there, once there is a connection. */
  async isThere(): Promise<boolean> {
    if (!this.isOurs) return false;
    const { paths } = this.#lifetime;
    const areThere = await inSession(
      this.#session.retry((connection) =>
        Promise.all(paths.map(async (path) => (await connection.read(path))?.isOurs)),
      ),
    );
    if (areThere?.some((isThere) => !isThere)) this.#giveUp();
    return areThere !== undefined && this.isOurs;
  }

  /** Turns writers into readers, once there is a connection. Resolves `false` when one was gone, or went with its session. */
  async downgrade(): Promise<boolean> {
    if (this.#isShared || !this.isOurs) return this.isThere();
    this.#downgrading ??= this.#markReaders().catch((error: unknown) => {
      this.#downgrading = undefined; // may be asked for again
      throw error;
    });
    const isDone = await this.#downgrading;
    if (!isDone) this.#giveUp();
    return isDone;
  }

  /** For a held lock: reports at once when one of its nodes is gone, and calls `asked` as `watchNodes` does. */
  watch(asked: Parameters<typeof watchNodes>[2]): void {
    if (this.isOurs) this.#unwatch = watchNodes(this.#session, this.#lifetime, asked);
  }

  /**
   * Removes them, as soon as there is a connection. Resolves `false` when one was gone, or went with its session. Rejects when
   * the server refuses for about a second, and goes on until it is done.
   */
  leave(): Promise<boolean> {
    this.#left ??= new Promise((resolve, reject) => {
      this.#unwatch?.();
      let refusals = 0;
      const refused = (error: Error) => {
        refusals += 1;
        if (refusals === REFUSALS) reject(error);
      };
      this.#remove(refused).then(resolve, reject);
    });
    return this.#left;
  }

  goneError(): Error {
    return this.#places.goneError();
  }

  async #markReaders(): Promise<boolean> {
    const { data } = this.#plan;
    const mark = () =>
      this.#session.retry((connection) => this.#keyNodes.markReaders(connection, this.paths, data));
    const areMarked = await inSession(mark().catch((error) => unlessUnknown(error, mark)));
    if (!areMarked) return false;
    this.#isShared = true;
    this.#lifetime.paths = [...this.paths, ...this.paths.map(readerMark)];
    return true;
  }

  async #remove(refused: (error: Error) => void): Promise<boolean> {
    await this.#downgrading?.catch(() => {}); // it makes nodes that are to be removed, too
    try {
      const remove = removal(this.#lifetime.paths);
      const wereThere = await inSession(insist(this.#session, remove, refused));
      for (const path of this.paths)
        this.#session
          .attempt((connection) => this.#keyNodes.tidy(connection, parentOf(path)))
          .catch(() => {});
      return wereThere ?? false;
    } finally {
      this.#session.leave(this.#lifetime);
      for (const listener of this.#gone.splice(0)) listener();
    }
  }

  /** One is gone, so the others are of no use. They may be gone, too. */
  #giveUp(): void {
    this.leave().catch(() => {});
  }
}

/** Asks again after an answer that leaves the outcome unknown. */
function unlessUnknown<T>(error: unknown, ask: () => Promise<T>): Promise<T> {
  if (error instanceof UnknownAnswerError) return ask();
  throw error;
}

/** Resolves `undefined` when the session has ended, and its nodes with it. */
async function inSession<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof SessionEndedError) return undefined;
    throw error;
  }
}
