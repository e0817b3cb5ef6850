import { systemClock } from '../../../../core/async/clock.js';
import { waitAtMost } from '../../../../core/async/sleep.js';
import type { ClusterClient } from '../../../cluster-client.js';
import { clusterSlot } from '../../../cluster-slot.js';
import type { SubscribableClient } from '../../../redis-client.js';
import type { ScanClient } from '../../../scan-client.js';
import type { NodeRedisCluster } from '../cluster-client.js';
import { NodeRedisPort } from '../port.js';
import type { Word } from '../port.js';
import { ClusterConnection } from './connection.js';
import type { NodePort } from './node-port.js';
import { ClusterRoutes } from './routes.js';
import { SubscriberSource } from './subscriber-source.js';

/** Milliseconds for the calls under way at `close`. */
const CLOSE_TIMEOUT = 1_000;
/** Of what any node can answer. */
const ANY_SLOT = 0;

/** What the store needs of a Cluster client, on connections of ours beside one of node-redis. */
export class NodeRedisClusterPort
  extends ClusterConnection
  implements ClusterClient, SubscribableClient, ScanClient
{
  readonly isCluster = true;
  /** Lost connections come back by themselves. */
  readonly options = { retryStrategy: () => 0 };
  /** As ioredis has it: the connection that is subscribed. */
  readonly subscriber = { getInstance: () => this.#subscriber ?? null };
  readonly #routes = new ClusterRoutes(this);
  #subscriber: NodeRedisPort | undefined;
  #calls = 0;
  #idle: (() => void) | undefined;

  constructor(given: NodeRedisCluster) {
    super(given);
    this.on('end', () => this.#unsubscribe());
  }

  override on(event: string | symbol, listener: (...args: never[]) => void): this {
    return super.on(event, listener as (...args: unknown[]) => void);
  }

  override off(event: string | symbol, listener: (...args: never[]) => void): this {
    return super.off(event, listener as (...args: unknown[]) => void);
  }

  nodes(role: 'all' | 'master'): readonly NodePort[] {
    const { all } = this.connections;
    const isMaster = ({ options: { host, port } }: NodePort) => this.isMaster(`${host}:${port}`);
    return role === 'all' ? all : all.filter(isMaster);
  }

  refreshSlotsCache(): void {
    this.refresh().catch(() => undefined);
  }

  evalsha(sha1: string, keyCount: number, ...words: Word[]): Promise<unknown> {
    const slot = clusterSlot(String(words[0]));
    return this.#call(slot, (node) => node.evalsha(sha1, keyCount, ...words));
  }

  eval(script: string, keyCount: number, ...words: Word[]): Promise<unknown> {
    const slot = clusterSlot(String(words[0]));
    return this.#call(slot, (node) => node.eval(script, keyCount, ...words));
  }

  wait(replicas: number, timeout: number): Promise<number> {
    return this.#call(ANY_SLOT, (node) => node.wait(replicas, timeout));
  }

  scan(...words: readonly Word[]): Promise<unknown> {
    return this.#call(ANY_SLOT, (node) => node.scan(...words));
  }

  /** One more connection, for subscriptions. */
  duplicate(): NodeRedisPort {
    return new NodeRedisPort(new SubscriberSource(this, this.clients));
  }

  /** Messages are events, `message` with the channel and the text; `close` and `ready` are of the connection that is subscribed, too. */
  async subscribe(channel: string): Promise<unknown> {
    this.open();
    return (this.#subscriber ??= this.#newSubscriber()).subscribe(channel);
  }

  async unsubscribe(): Promise<void> {
    this.#unsubscribe();
  }

  /** Closes the connections, after the calls under way. */
  async close(): Promise<void> {
    const idle = new Promise<void>((resolve) => (this.#idle = resolve));
    if (this.#calls > 0) await waitAtMost(systemClock, CLOSE_TIMEOUT, idle, true);
    this.stop('closed');
    this.#unsubscribe();
    await this.connections.close();
  }

  async #call<T>(slot: number, send: (node: NodePort) => Promise<T>): Promise<T> {
    this.open();
    this.#calls++;
    try {
      return await this.#routes.call(slot, send);
    } finally {
      if (--this.#calls === 0) this.#idle?.();
    }
  }

  #newSubscriber(): NodeRedisPort {
    const subscriber = this.duplicate();
    subscriber.on('message', (...message: unknown[]) => this.emit('message', ...message));
    subscriber.on('close', () => this.emit('close'));
    subscriber.on('ready', () => this.emit('ready'));
    return subscriber;
  }

  #unsubscribe(): void {
    this.#subscriber?.disconnect();
    this.#subscriber = undefined;
  }
}
