import { EventEmitter, errorMonitor } from 'node:events';
import { inRootContext } from '../../../core/async/root-context.js';
import type { Waits } from './connecting.js';
import { destroyClient } from './node-redis-client.js';
import type { NodeRedisClient } from './node-redis-client.js';
import { Progress } from './progress.js';
import { Retries } from './retries.js';
import type { NodeRedisSource, OpenedClient } from './source.js';

type Status = 'wait' | 'connecting' | 'connect' | 'ready' | 'reconnecting' | 'end';

/**
 * One connection of ours, with the options of a client of node-redis, which it leaves alone. It comes back when it is lost, each
 * time as another client: node-redis could neither drop a silent connection nor tell which commands it had sent.
 *
 * Emits `ready`; `close` when a connection that was ready is lost; `failing` with an error after many attempts; `end` when the
 * application closes its client; and `stopped` after that and after `stop`.
 */
export class NodeRedisConnection extends EventEmitter {
  protected readonly source: NodeRedisSource;
  readonly #retries: Retries;
  #client: NodeRedisClient | undefined;
  #status: Status = 'wait';
  #progress: Progress | undefined;
  #attempt = 0;
  #stopFollowing: (() => void) | undefined;

  /** Attempts after which the calls that wait for a connection fail. */
  constructor(source: NodeRedisSource, mostFailures?: number) {
    super();
    this.source = source;
    this.#retries = new Retries(() => this.#connect(), mostFailures);
  }

  get status(): Status {
    return this.#status === 'end' && this.source.isOpen ? 'wait' : this.#status; // opened again
  }

  /** Another object for each connection; of one that was lost, it has the error. */
  get stream(): Progress | undefined {
    return this.#progress;
  }

  /** Missing while there is no connection that is ready. */
  get client(): NodeRedisClient | undefined {
    return this.#status === 'ready' ? this.#client : undefined;
  }

  /** The server has said something. */
  heard(): void {
    if (this.#progress) this.#progress.bytesRead++;
  }

  /** Connects, unless it does or is already. `false`: the application has closed its client. */
  open(): boolean {
    if (this.#status === 'end' && !this.source.isOpen) return false;
    if (this.#status === 'wait' || this.#status === 'end') this.#connect();
    return true;
  }

  /** `client` is of no use: another one is connected. Missing where there is none yet. */
  failed(client: NodeRedisClient | undefined, error: unknown): void {
    if (client) this.source.failed?.(client);
    if (client) destroyClient(client);
    if (client === this.#client) this.#connectAgain(error);
  }

  #connectAgain(error: unknown): void {
    const wasReady = this.#status === 'ready';
    this.#leave('reconnecting', Progress.lost(error));
    const isHopeless = this.#retries.failed(); // first: a listener that hears of the failure may stop
    if (wasReady) this.emit('close');
    this.emit(errorMonitor, error);
    if (isHopeless) this.emit('failing', error);
  }

  /** Until the next `open`. */
  stop(status: 'wait' | 'end' = 'wait'): void {
    this.#retries.stop();
    const [client, before] = [this.#client, this.#status];
    this.#leave(status);
    if (client && before !== 'connecting') destroyClient(client);
    this.#stopFollowing?.();
    this.#stopFollowing = undefined;
    this.emit('stopped');
  }

  #connect(): void {
    this.#status = 'connecting';
    this.#stopFollowing ??= this.source.follow({ ended: this.#ended, moved: this.#moved });
    const attempt = ++this.#attempt;
    inRootContext(() => {
      const opened = this.source.open();
      if (!(opened instanceof Promise)) return this.#begin(opened);
      opened.then(
        (each) => attempt === this.#attempt && this.#begin(each),
        (error: unknown) => attempt === this.#attempt && this.failed(undefined, error),
      );
    });
  }

  #begin({ client, connect }: OpenedClient): void {
    this.#client = client;
    client.on('connect', () => this.#connected(client));
    client.on('error', (error) => this.failed(client, error));
    connect(this.#waits).then(
      () => this.#ready(client),
      (error: unknown) => this.failed(client, error),
    );
  }

  #connected(client: NodeRedisClient): void {
    if (client !== this.#client) return destroyClient(client); // node-redis cannot destroy a socket that is still connecting
    this.#status = 'connect';
    this.#progress = new Progress((error) => this.failed(client, error));
  }

  #ready(client: NodeRedisClient): void {
    if (client !== this.#client) return;
    this.#status = 'ready';
    this.#retries.succeeded();
    this.emit('ready');
  }

  #leave(status: Status, lost?: Progress): void {
    if (this.#progress) this.#progress.destroyed = true;
    this.#progress = lost;
    this.#client = undefined;
    this.#attempt++;
    this.#status = status;
  }

  /** The server answers, and cannot be used yet. */
  readonly #waits: Waits = (reason) => {
    this.heard();
    this.emit(errorMonitor, reason);
  };

  readonly #moved = (error: Error): void => {
    if (!this.#client || this.#status === 'connecting') return;
    destroyClient(this.#client);
    this.#connectAgain(error);
  };

  /** Ends with the client of the application. */
  readonly #ended = (): void => {
    this.stop('end');
    this.emit('end');
  };
}
