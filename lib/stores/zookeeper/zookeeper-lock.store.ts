import type {
  AcquireRequest,
  Lease,
  LockInspection,
  LockStore,
  StoreNotice,
} from '../../core/lock-store.js';
import { firstOf } from './line.js';
import type { Lines } from './lines.js';
import { LockNodes } from './lock-nodes.js';
import type { NodePlan } from './node-creation.js';
import { nodePrefix } from './node-names.js';
import type { LockMode } from './node-names.js';
import type { Patience, Session } from './session.js';
import { Sessions } from './sessions.js';
import { ZooKeeperLease } from './zookeeper-lease.js';
import { checkServers, resolveZooKeeperOptions } from './zookeeper-options.js';
import type { ZooKeeperLockStoreOptions } from './zookeeper-options.js';

/** A request may ask for a lock that it shares with other readers. */
export interface ZooKeeperRequest extends AcquireRequest {
  /** @default 'write' */
  readonly mode?: LockMode | undefined;
}

/**
 * Locks on ZooKeeper 3.5.3 or newer, by the recipe of its documentation: an ephemeral node for each request, numbered by the
 * server; the lowest holds, each other one watches the one before it. Several keys have their nodes made by one transaction.
 * A lock lives as long as the session of its process.
 *
 * `servers` is `'host:2181,host:2181'`. The store opens sessions of its own, the first one when it is first used, and a new
 * one after each that has ended. The client is `node-zookeeper-client`: the native one (`zookeeper`) has to be compiled on
 * Linux, prints to the standard output, and is as dead after an expiry.
 */
export class ZooKeeperLockStore implements LockStore {
  readonly name = 'zookeeper';
  readonly supports = { fencing: true, fencingFloor: false, ttl: false, manyKeys: true } as const;
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

  tryAcquire(request: ZooKeeperRequest): Promise<Lease | undefined> {
    return this.#sessions.use(async (session, lines) => {
      const known = this.#held.get(idOf(request));
      if (await known?.isThere()) return new ZooKeeperLease(known!);
      return this.#inLine(session, lines, request, {}, async (nodes) => {
        const { state } = await nodes.place();
        if (state === 'gone') throw nodes.goneError();
        return state === 'holds';
      });
    });
  }

  async acquire(request: ZooKeeperRequest, signal: AbortSignal): Promise<Lease> {
    const lease = await this.#sessions.use((session, lines) =>
      this.#inLine(session, lines, request, { signal }, async (nodes) => {
        await nodes.untilTheyHold(signal);
        return true;
      }),
    );
    return lease!;
  }

  /** The first one in line. Costs a write, so that no server answers from its past. */
  inspect(key: string): Promise<LockInspection | undefined> {
    const look = (session: Session, lines: Lines) =>
      session.retry(
        async (connection) => {
          const line = lines.pathOf(key);
          await connection.check([lines.root]);
          for (;;) {
            const first = firstOf((await connection.children(line)) ?? []);
            if (!first) return undefined;
            const content = await connection.read(`${line}/${first.name}`);
            if (!content) continue; // it has gone meanwhile
            const holder = content.data.toString() || undefined;
            return { key, holder, fencingToken: content.czxid };
          }
        },
        { within: this.#connectTimeout },
      );
    return this.#sessions.use(look);
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
    request: ZooKeeperRequest,
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

  #granted(nodes: LockNodes, request: ZooKeeperRequest): Lease {
    const id = idOf(request);
    this.#held.set(id, nodes);
    nodes.onGone(() => this.#held.delete(id));
    return new ZooKeeperLease(nodes);
  }
}

function planOf(
  lines: Lines,
  { keys, token, holder = '', mode = 'write' }: ZooKeeperRequest,
): NodePlan {
  return {
    lines: keys.map((key) => lines.pathOf(key)),
    prefix: nodePrefix(token, mode),
    data: Buffer.from(holder),
  };
}

function idOf({ keys, token }: AcquireRequest): string {
  return JSON.stringify([token, ...keys]);
}
