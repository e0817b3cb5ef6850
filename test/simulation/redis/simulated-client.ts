import { EventEmitter } from 'node:events';
import type { Machine } from '../world/machine.js';
import { Connection } from './connection.js';
import type { RedisSite } from './redis-site.js';

type Words = readonly (string | number)[];

/** Milliseconds until a connection that was lost is made again. */
const RECONNECT = 50;

/** A command without an answer. */
export interface Pending {
  readonly words: Words;
  readonly resolve: (reply: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** A client of ioredis' shape. After a reconnect it sends once more what was not answered, as ioredis does. */
export class SimulatedClient extends EventEmitter {
  status = 'ready';
  readonly options;
  commandQueue: Pending[] = [];
  readonly #machine: Machine;
  readonly #site: RedisSite;
  #offline: Pending[] = [];
  #connection: Connection;

  constructor(site: RedisSite, machine: Machine) {
    super();
    this.#site = site;
    this.#machine = machine;
    this.options = { retryStrategy: () => RECONNECT, host: site.server.machine.name };
    this.#connection = this.#connect();
  }

  get stream(): Connection {
    return this.#connection;
  }

  evalsha(...words: Words): Promise<unknown> {
    return this.#send('evalsha', words);
  }

  eval(...words: Words): Promise<unknown> {
    return this.#send('eval', words);
  }

  wait(...words: Words): Promise<number> {
    return this.#send('wait', words) as Promise<number>;
  }

  time(): Promise<unknown> {
    return this.#send('time', []);
  }

  info(section: string): Promise<string> {
    return this.#send('info', [section]) as Promise<string>;
  }

  subscribe(channel: string): Promise<unknown> {
    return this.#send('subscribe', [channel]);
  }

  unsubscribe(channel: string): Promise<unknown> {
    return this.#send('unsubscribe', [channel]);
  }

  duplicate(): SimulatedClient {
    return new SimulatedClient(this.#site, this.#machine);
  }

  disconnect(): void {
    this.status = 'end';
    this.#connection.end();
  }

  /** The connection was lost. */
  lost(): void {
    if (this.status === 'end') return;
    this.status = 'reconnecting';
    this.#offline = [...this.commandQueue.splice(0), ...this.#offline];
    this.emit('close');
    setTimeout(() => this.#reconnect(), RECONNECT);
  }

  #send(name: string, words: Words): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const pending = { words: [name, ...words], resolve, reject };
      if (this.status === 'ready') this.#write(pending);
      else if (this.status !== 'end') this.#offline.push(pending);
      else reject(new Error('Connection is closed.'));
    });
  }

  #write(pending: Pending): void {
    this.commandQueue.push(pending);
    this.#connection.send(pending);
  }

  #connect(): Connection {
    return new Connection(this.#site, this.#machine, this);
  }

  #reconnect(): void {
    if (this.status === 'end') return;
    this.#connection = this.#connect();
    this.#connection.opened(() => {
      this.status = 'ready';
      for (const pending of this.#offline.splice(0)) this.#write(pending);
      this.emit('ready');
    });
  }
}
