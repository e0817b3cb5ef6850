import type {
  AcquireRequest,
  Lease,
  LockInspection,
  LockStore,
  StoreNotice,
} from '../../core/lock-store.js';
import { inspectLine } from './inspection.js';
import type { Lines } from './lines.js';
import { LockNodes } from './lock-nodes.js';
import type { NodePlan } from './node-creation.js';
import { nodePrefix } from './node-names.js';
import type { Patience, Session } from './session.js';
import { Sessions } from './sessions.js';
import { ZooKeeperLease } from './zookeeper-lease.js';
import { checkServers, resolveZooKeeperOptions } from './zookeeper-options.js';
import type { ZooKeeperLockStoreOptions } from './zookeeper-options.js';

/**
 * Locks on ZooKeeper 3.5.3 or newer, by the recipe of its documentation: an ephemeral node for each request, numbered by the
 * server; the lowest holds, each other one watches the one before it. Those who share a key hold together. Several keys have their nodes made by one transaction.
 * A lock lives as long as the session of its process.
 *
 * `servers` is `'host:2181,host:2181'`. The store opens sessions of its own, the first one when it is first used, and a new
 * one after each that has ended. The client is `node-zookeeper-client`: the native one (`zookeeper`) has to be compiled on
 * Linux, prints to the standard output, and is as dead after an expiry.
 */
export class ZooKeeperLockStore implements LockStore {
  readonly name = 'zookeeper';
  readonly supports = {
    fencing: true,
    fencingFloor: false,
    ttl: false,
    manyKeys: true,
    readLocks: true,
    semaphores: true,
  } as const;
  readonly #sessions: Sessions;
  readonly #connectTimeout: number;
  readonly #observers: ((notice: StoreNotice) => void)[] = [];
  readonly #held = new Map<string, LockNodes>();

  /** Throws `TypeError` or `RangeError` naming the option. */
  constructor(servers: string, options: ZooKeeperLockStoreOptions = {}) {
    checkServers(servers);
    const resolved = resolveZooKeeperOptions(options);
    this.#connectTimeout = resolved.connectTimeout;
    this.#sessions = new Sessions(servers, resolved, (reason) =>
      this.#observers.forEach((tell) => tell({ type: 'doubt', reason })),
    );
  }

  tryAcquire(request: AcquireRequest): Promise<Lease | undefined> {
    return this.#sessions.use(async (session, lines) => {
      const known = this.#held.get(idOf(request));
      if (await known?.isThere()) return new ZooKeeperLease(known!);
      return this.#inLine(session, lines, request, {}, (nodes) => nodes.doHold());
    });
  }

  async acquire(request: AcquireRequest, signal: AbortSignal): Promise<Lease> {
    const lease = await this.#sessions.use((session, lines) =>
      this.#inLine(session, lines, request, { signal }, async (nodes) => {
        await nodes.untilTheyHold(signal);
        return true;
      }),
    );
    return lease!;
  }

  /** Those who hold the key. Costs a write, so that no server answers from its past. */
  inspect(key: string): Promise<LockInspection | undefined> {
    const patience = { within: this.#connectTimeout };
    return this.#sessions.use((session, lines) =>
      session.retry(async (connection) => {
        await connection.check([lines.root]);
        return inspectLine(connection, key, lines.pathOf(key));
      }, patience),
    );
  }

  observe(tell: (notice: StoreNotice) => void): void {
    this.#observers.push(tell);
  }

  /** Ends the session: the server frees whatever is still held. */
  close(): Promise<void> {
    return this.#sessions.close();
  }

  /** Stands in line until `wait` says whether the lock is held. Leaves nothing behind when it is not, and when it rejects. */
  async #inLine(
    session: Session,
    lines: Lines,
    request: AcquireRequest,
    { signal }: Patience,
    wait: (nodes: LockNodes) => Promise<boolean>,
  ): Promise<Lease | undefined> {
    const plan = planOf(lines, request);
    const patience = { within: this.#connectTimeout, signal };
    const nodes = await LockNodes.enter(lines, session, plan, patience);
    try {
      const holds = await wait(nodes);
      if (holds && !nodes.isOurs) throw nodes.goneError();
      if (holds) return this.#granted(nodes, request);
      await nodes.leave();
      return undefined;
    } catch (error) {
      await nodes.leave().catch(() => {}); // what has gone wrong before is the news
      throw signal?.aborted ? signal.reason : error;
    }
  }

  #granted(nodes: LockNodes, request: AcquireRequest): Lease {
    const id = idOf(request);
    this.#held.set(id, nodes);
    nodes.onGone(() => this.#held.delete(id));
    nodes.watch();
    return new ZooKeeperLease(nodes);
  }
}

function planOf(lines: Lines, { keys, token, holder = '', permits }: AcquireRequest): NodePlan {
  return {
    keys,
    lines: keys.map((key) => lines.pathOf(key)),
    permits,
    prefix: nodePrefix(token, permits),
    data: Buffer.from(holder),
  };
}

function idOf({ keys, token }: AcquireRequest): string {
  return JSON.stringify([token, ...keys]);
}
