import type { SubscribableClient } from '../../redis-client.js';
import type { ScanClient } from '../../scan-client.js';
import { NodeRedisCalls } from './calls.js';
import { NodeRedisConnection } from './connection.js';
import type { NodeRedisSource } from './source.js';

export type Word = string | number | Buffer;

/** The part of a client that the store needs, on a connection of ours beside a client of node-redis. */
export class NodeRedisPort extends NodeRedisConnection implements SubscribableClient, ScanClient {
  /** The connection comes back by itself. */
  readonly options: NonNullable<SubscribableClient['options']>;
  readonly #calls: NodeRedisCalls;

  /** With `givesUp`, calls fail with their connection: the caller looks for another server. */
  constructor(source: NodeRedisSource, givesUp = false) {
    super(source, givesUp ? 1 : undefined);
    this.#calls = new NodeRedisCalls(this, givesUp);
    this.options = { ...source.address, retryStrategy: () => 0 };
  }

  /** Its length is the number of answers that the server owes. */
  get commandQueue(): { readonly length: number } {
    return { length: this.status === 'connect' ? 1 : this.#calls.unanswered };
  }

  override on(event: string | symbol, listener: (...args: never[]) => void): this {
    return super.on(event, listener as (...args: unknown[]) => void);
  }

  override off(event: string | symbol, listener: (...args: never[]) => void): this {
    return super.off(event, listener as (...args: unknown[]) => void);
  }

  evalsha(sha1: string, keyCount: number, ...keysAndArgs: Word[]): Promise<unknown> {
    return this.send('EVALSHA', sha1, keyCount, ...keysAndArgs);
  }

  eval(script: string, keyCount: number, ...keysAndArgs: Word[]): Promise<unknown> {
    return this.send('EVAL', script, keyCount, ...keysAndArgs);
  }

  wait(replicas: number, timeout: number): Promise<number> {
    return this.send('WAIT', replicas, timeout) as Promise<number>;
  }

  info(section: string): Promise<string> {
    return this.send('INFO', section) as Promise<string>;
  }

  time(): Promise<readonly (number | string)[]> {
    return this.send('TIME') as Promise<readonly string[]>;
  }

  scan(...words: readonly Word[]): Promise<unknown> {
    return this.send('SCAN', ...words);
  }

  /** One more connection, for `subscribe`. */
  duplicate(): NodeRedisPort {
    return new NodeRedisPort(this.source);
  }

  /** Messages are events, `message` with the channel and the text. A subscribed connection asks for a sign of life. */
  subscribe(channel: string): Promise<unknown> {
    const received = (text: string) => {
      this.heard();
      this.emit('message', channel, text);
    };
    return this.#calls.make('subscribe', (client) =>
      client.isPubSubActive ? client.sendCommand(['PING']) : client.subscribe(channel, received),
    );
  }

  /** The connection is for subscriptions only. */
  async unsubscribe(): Promise<void> {
    this.disconnect();
  }

  disconnect(): void {
    this.stop('end');
  }

  /** Closes the connection, after the calls under way, and what has led to it. */
  async close(): Promise<void> {
    this.on('stopped', () => this.source.close());
    await this.#calls.close();
  }

  protected send(...words: readonly Word[]): Promise<unknown> {
    const args = words.map((word) => (typeof word === 'number' ? String(word) : word));
    return this.#calls.make(String(args[0]).toLowerCase(), (client) => client.sendCommand(args));
  }
}
