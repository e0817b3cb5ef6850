import { systemClock } from '../../../core/async/clock.js';
import { waitAtMost } from '../../../core/async/sleep.js';
import { makeRoom } from '../../../core/async/emitter-room.js';
import { connectToMaster } from './connecting.js';
import { connectionOptions } from './node-redis-client.js';
import type { NodeRedisClient } from './node-redis-client.js';
import { connect, destroy, ignored, masterOf } from './sentinel-client.js';
import type { NodeRedisSentinel } from './sentinel-client.js';
import { onEnd } from './source.js';
import type { NodeRedisSource, OpenedClient, SourceListener } from './source.js';

/** Milliseconds for the sentinels to name a master, after which they are asked anew. */
const NAMED_WITHIN = 15_000;
const SMALLEST = {
  masterPoolSize: 1,
  replicaPoolSize: 0,
  reserveClient: false,
  clientSideCache: undefined,
};

/**
 * The master behind a Sentinel client, which keeps its options to itself, but lends its connection to the master: ours have the
 * options of that one. The guide to the master is a Sentinel client of our own, a new one after a failure. With `redis` 5, which cannot
 * duplicate it, it is that of the application: connected here where it is not yet, and then closed with the store.
 */
export class SentinelSource implements NodeRedisSource {
  readonly address = { sentinels: [], name: 'the sentinels' };
  readonly #given: NodeRedisSentinel;
  readonly #listeners = new Set<SourceListener>();
  /** Which guide has led to it. */
  readonly #guides = new WeakMap<NodeRedisClient, NodeRedisSentinel>();
  #guide: NodeRedisSentinel | undefined;
  /** Settles when a guide of ours is connected. */
  #guiding: Promise<unknown> | undefined;
  /** The guide is connected, and closed, here. */
  #isOurs = false;
  #wasReady = false;
  #isClosed = false;

  constructor(given: NodeRedisSentinel) {
    this.#given = given;
  }

  get isOpen(): boolean {
    return this.#given.isOpen;
  }

  async open(): Promise<OpenedClient> {
    if (this.#isClosed && !this.#wasReady) throw new Error('the store was closed');
    const guide = (this.#guide ??= this.#newGuide());
    try {
      const master = await this.#masterOf(guide);
      const client = master.duplicate(connectionOptions(master));
      this.#guides.set(client, guide);
      return { client, connect: (waits) => connectToMaster(client, waits) };
    } catch (error) {
      this.#discard(guide);
      throw error;
    }
  }

  failed(client: NodeRedisClient): void {
    const guide = this.#guides.get(client);
    if (guide) this.#discard(guide);
  }

  follow(listener: SourceListener): () => void {
    this.#listeners.add(listener);
    const stop = onEnd(this.#given, () => {
      listener.ended();
      this.#leave();
    });
    return () => {
      this.#listeners.delete(listener);
      stop();
    };
  }

  /** A late call does not search where none was found before. */
  close(): void {
    this.#isClosed = true;
    this.#leave();
  }

  #leave(): void {
    const guide = this.#guide;
    this.#guide = undefined;
    if (!guide) return;
    guide.off('topology-change', this.#changed);
    if (this.#isOurs) return destroy(guide);
    guide.off('error', ignored);
    makeRoom(guide, -2);
  }

  #newGuide(): NodeRedisSentinel {
    const { duplicate } = this.#given as {
      duplicate?: (overrides: object) => NodeRedisSentinel;
    };
    const guide = duplicate?.call(this.#given, SMALLEST) ?? this.#given;
    this.#isOurs = !guide.isOpen;
    this.#wasReady = guide.isOpen;
    makeRoom(guide, 2);
    guide.on('error', ignored);
    guide.on('topology-change', this.#changed);
    return guide;
  }

  async #masterOf(guide: NodeRedisSentinel): Promise<NodeRedisClient> {
    const named = this.#connected(guide).then(() => masterOf(guide));
    if (await waitAtMost(systemClock, NAMED_WITHIN, named, true)) return named;
    throw new Error(`the sentinels have named no master within ${NAMED_WITHIN} ms`);
  }

  async #connected(guide: NodeRedisSentinel): Promise<void> {
    if (!guide.isOpen && this.#wasReady) return this.#ended();
    if (!guide.isOpen && this.#isOurs) this.#guiding = connect(guide);
    await this.#guiding;
    // Where it is not, `redis` 5 would ask for the master for ever, in one turn of the event loop.
    if (!guide.isReady) throw new Error('the Sentinel client is not connected');
    this.#wasReady = true;
  }

  /** `redis` 5 has no event for a Sentinel client that was closed. */
  #ended(): never {
    for (const { ended } of this.#listeners) ended();
    throw new Error('the client was closed');
  }

  readonly #changed = (event?: { readonly type?: string }): void => {
    if (event?.type !== 'MASTER_CHANGE') return;
    const error = new Error('the sentinels name another master');
    for (const { moved } of this.#listeners) moved(error);
  };

  /** That of the application is kept, and finds the master by itself. */
  #discard(guide: NodeRedisSentinel): void {
    if (guide !== this.#guide || guide === this.#given) return;
    this.#guide = undefined;
    guide.off('topology-change', this.#changed);
    destroy(guide);
  }
}
