import { makeRoom } from '../../../core/async/emitter-room.js';
import { connectToServer } from './connecting.js';
import type { Waits } from './connecting.js';
import { addressOf, connectionOptions } from './node-redis-client.js';
import type { NodeRedisClient } from './node-redis-client.js';
import type { RedisClient } from '../../redis-client.js';

/** A client of ours, and how it connects, only once: resolves when the server can be used. */
export interface OpenedClient {
  readonly client: NodeRedisClient;
  readonly connect: (waits: Waits) => Promise<unknown>;
}

/** The reports to a connection about the client of the application. */
export interface SourceListener {
  /** The application has closed its client. */
  readonly ended: () => void;
  /** The server is another one from now on. */
  readonly moved: (error: Error) => void;
}

/** Where the connections of a store lead to, and how they are made. */
export interface NodeRedisSource {
  readonly address: NonNullable<RedisClient['options']>;
  /** Whether the client of the application is open. */
  readonly isOpen: boolean;
  /** A client of ours for the next connection. */
  open(): OpenedClient | Promise<OpenedClient>;
  /** The connection of `client`, which was opened here, was lost or never made. */
  failed?(client: NodeRedisClient): void;
  /** Returns how to stop. */
  follow(listener: SourceListener): () => void;
  close(): void;
}

/** The server of a client of node-redis. */
export class ServerSource implements NodeRedisSource {
  readonly #template: NodeRedisClient;

  constructor(template: NodeRedisClient) {
    this.#template = template;
  }

  get address(): NodeRedisSource['address'] {
    const { host, port, path } = addressOf(this.#template);
    return { host, port, path };
  }

  get isOpen(): boolean {
    return this.#template.isOpen;
  }

  open(): OpenedClient {
    const client = this.#template.duplicate(connectionOptions(this.#template));
    return { client, connect: (waits) => connectToServer(client, waits) };
  }

  follow({ ended }: SourceListener): () => void {
    return onEnd(this.#template, ended);
  }

  close(): void {}
}

/** Calls `ended` at `event`, by which a client tells that it was closed. Returns how to stop. */
export function onEnd(
  client: Pick<NodeRedisClient, 'on' | 'off'>,
  ended: () => void,
  event = 'end',
): () => void {
  if (!anchored.has(client)) client.on('nest-holdfast', () => undefined);
  anchored.add(client);
  makeRoom(client, 1);
  client.on(event, ended);
  return () => {
    makeRoom(client, -1);
    client.off(event, ended);
  };
}

/**
 * Clients with a listener that stays. The objects that node-redis hands out inherit from its emitter: when the last listener is removed there,
 * later ones would be those of an object that emits nothing.
 */
const anchored = new WeakSet<object>();
