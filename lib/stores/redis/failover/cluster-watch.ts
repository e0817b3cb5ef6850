import { makeRoom } from '../../../core/async/emitter-room.js';
import type { StoreDoubt } from '../../../core/contract/lock-store.js';
import { nodeName } from '../../../redis-client/cluster-client.js';
import type { ClusterClient, ClusterNodeClient } from '../../../redis-client/cluster-client.js';

type Tell = (doubt: StoreDoubt) => void;
/** The slots of some locks. */
type SlotsOf = (keys: readonly string[]) => readonly number[];

/**
 * Tells when slots of a Cluster have a new master, and when the connection to a master is lost: it may have restarted. Only the
 * locks in these slots are affected.
 */
export class ClusterWatch {
  readonly #client: ClusterClient;
  readonly #slotsOf: SlotsOf;
  readonly #tell: Tell;
  /** The master of each slot. A copy: the client changes its own in place. */
  #masters: readonly (string | undefined)[];
  #losses = 0;
  /** How to stop watching each connection. */
  readonly #watched = new Map<ClusterNodeClient, () => void>();

  constructor(client: ClusterClient, slotsOf: SlotsOf, tell: Tell) {
    this.#client = client;
    this.#slotsOf = slotsOf;
    this.#tell = tell;
    this.#masters = mastersOf(client);
    makeRoom(client, 1);
    client.on('refresh', this.#refreshed);
    client.on('+node', this.#watch);
    client.on('-node', this.#forget);
    for (const node of client.nodes('all')) this.#watch(node);
  }

  /** Number of connections that were lost or given up. */
  get losses(): number {
    return this.#losses;
  }

  close(): void {
    makeRoom(this.#client, -1);
    this.#client.off('refresh', this.#refreshed);
    this.#client.off('+node', this.#watch);
    this.#client.off('-node', this.#forget);
    for (const node of this.#watched.keys()) this.#forget(node);
  }

  readonly #refreshed = (): void => {
    const before = this.#masters;
    const now = mastersOf(this.#client);
    this.#masters = now;
    const isMoved = (slot: number) => before[slot] !== undefined && before[slot] !== now[slot];
    const moved = before.reduce((count, _, slot) => count + Number(isMoved(slot)), 0);
    if (moved > 0) this.#doubt(`the master of ${moved} slots is another one than before`, isMoved);
  };

  /** A connection that was never established has nothing to lose: while a master is away, the client makes many of them. */
  readonly #watch = (node: ClusterNodeClient): void => {
    if (this.#watched.has(node)) return;
    let wasReady = node.status === 'ready';
    const ready = () => void (wasReady = true);
    const closed = () => {
      this.#losses++;
      if (wasReady) this.#lost(nodeName(node));
      wasReady = false;
    };
    makeRoom(node, 1);
    node.on('ready', ready);
    node.on('close', closed);
    this.#watched.set(node, () => {
      makeRoom(node, -1);
      node.off('ready', ready);
      node.off('close', closed);
    });
  };

  readonly #forget = (node: ClusterNodeClient): void => {
    this.#losses++;
    this.#watched.get(node)?.();
    this.#watched.delete(node);
  };

  #lost(name: string): void {
    const isIts = (slot: number) => this.#masters[slot] === name;
    if (this.#masters.includes(name)) this.#doubt(`the connection to ${name} was lost`, isIts);
  }

  #doubt(reason: string, isMeant: (slot: number) => boolean): void {
    const concerns = (keys: readonly string[]) => this.#slotsOf(keys).some(isMeant);
    this.#tell({ type: 'doubt', reason, concerns });
  }
}

function mastersOf({ slots }: ClusterClient): (string | undefined)[] {
  return Array.from(slots, (nodes) => nodes?.[0]);
}
