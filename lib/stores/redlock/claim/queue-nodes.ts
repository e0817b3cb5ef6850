import { hash, randomUUID } from 'node:crypto';
import { sleep } from '../../../core/async/sleep.js';
import type { AcquireRequest, Lease } from '../../../core/contract/lock-store.js';
import { promiseTry } from '../../../core/store/store-call.js';
import type { Quorum } from '../vote/quorum.js';
import { asClaim } from '../vote/answers.js';
import type { RedlockNode } from '../node/redlock-node.js';
import { ClaimBackoff } from './claim-backoff.js';

/** Milliseconds, a random number up to this, before a lost place is taken again. */
const PAUSE = 50;

/** A claim at one node, which handed it over to the first waiter. */
export interface Woken {
  /** The request at that node, with a token of its own: a late release at one node then frees nothing else. */
  readonly request: AcquireRequest;
  readonly node: RedlockNode;
  readonly lease: Lease;
}

/** The nodes where a caller cannot queue, and their errors. */
type Refusals = Map<RedlockNode, unknown>;

/**
 * Where callers queue: at one node for each key, so that waiters never split the votes. Nothing depends on all processes choosing
 * the same node: a woken waiter still needs a majority.
 */
export class QueueNodes {
  readonly backoff: ClaimBackoff;
  readonly #quorum: Quorum;

  constructor(quorum: Quorum) {
    this.#quorum = quorum;
    this.backoff = new ClaimBackoff(quorum.clock);
  }

  /** The first fit node that has a queue, in an order given by the key. */
  of(key: string, refusals?: Refusals): RedlockNode | undefined {
    const { nodes } = this.#quorum;
    const first = Number.parseInt(hash('sha1', key).slice(0, 8), 16) % nodes.length;
    const inOrder = [...nodes.slice(first), ...nodes];
    return inOrder.find((node) => node.store.acquire && node.isFit && !refusals?.has(node));
  }

  /**
   * Queues until it is handed a claim. Moves on to another node when this one is of no use any more. Rejects when no node is of
   * any use for long.
   */
  async wait(asked: AcquireRequest, signal: AbortSignal): Promise<Woken> {
    const refusals: Refusals = new Map();
    for (let pause = this.backoff.pauseOf(asked); ; pause = Math.random() * PAUSE) {
      if (pause > 0) await sleep(this.#quorum.clock, pause, signal);
      signal.throwIfAborted();
      const request = { ...asked, token: randomUUID() };
      const node = this.of(asked.key, refusals);
      const lease = node && (await this.#waitAt(node, request, signal, refusals));
      if (lease) return { node, lease, request };
      if (node) continue;
      if (!this.backoff.failed(asked)) await this.#complain(asked, refusals);
      refusals.clear();
    }
  }

  /** Resolves `undefined` when the node is of no use any more. Does not wait for the node to confirm that the caller has left. */
  async #waitAt(
    node: RedlockNode,
    request: AcquireRequest,
    signal: AbortSignal,
    refusals: Refusals,
  ): Promise<Lease | undefined> {
    const stopper = new AbortController();
    const stop = () => stopper.abort(signal.reason);
    signal.addEventListener('abort', stop);
    const unwatch = node.whenUnfit(stop);
    const stopped = new Promise<undefined>((resolve) =>
      stopper.signal.addEventListener('abort', () => resolve(undefined)),
    );
    const asked = promiseTry(() => node.store.acquire!(request, stopper.signal)).then(asClaim);
    const waited = asked.catch((error: unknown) => {
      if (!stopper.signal.aborted) refusals.set(node, error);
      return undefined;
    });
    try {
      const lease = await Promise.race([waited, stopped]);
      if (!lease) void waited.then((late) => late?.release().catch(() => undefined));
      return lease;
    } finally {
      unwatch();
      signal.removeEventListener('abort', stop);
    }
  }

  /** Rejects, and names the failure of each node. */
  async #complain(asked: AcquireRequest, refusals: Refusals): Promise<void> {
    const ask = (node: RedlockNode): never => {
      throw refusals.get(node) ?? new Error('no caller can wait here');
    };
    const words = { yes: 'let callers wait', no: 'held' };
    await this.#quorum.ask({ ask, isYes: Boolean, words }, asked.ttl, asked);
  }
}
