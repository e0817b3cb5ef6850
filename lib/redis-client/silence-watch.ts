import { inRootContext } from '../core/async/root-context.js';
import { systemClock } from '../core/async/clock.js';
import type { Cancel } from '../core/async/clock.js';

/** The part of an ioredis connection that shows whether it is answered. */
export interface WatchedConnection {
  readonly status?: string;
  /** A `net.Socket` or `tls.TLSSocket`, another one after a reconnect. */
  readonly stream?: unknown;
  /** Commands without an answer, also those whose callers have given up. */
  readonly commandQueue?: { readonly length: number };
}

interface Socket {
  readonly bytesRead: number;
  readonly destroyed: boolean;
  destroy(error: Error): void;
}

/** A connection's progress at the last look, and the number of consecutive looks without further progress. */
interface Stillness {
  readonly bytesRead: number;
  readonly looks: number;
}

/** Consecutive looks without a byte, after which a connection is given up. */
const MOST_LOOKS = 4;
/** In these states, a connection that owes no answer needs no look. */
const AT_REST = ['ready', 'wait', 'end', 'close'];

/**
 * Gives up silent connections, so that the client makes new ones. A server that hangs, lost its power or became unreachable
 * closes none; the client would use it for the fifteen minutes of TCP, after a failover too. Looks only while a command is
 * pending. Counts looks, not time: a process that was busy has still to read its input.
 */
export class SilenceWatch {
  readonly #connections: () => readonly WatchedConnection[];
  readonly #dropped: () => void;
  readonly #every: number;
  #still = new Map<Socket, Stillness>();
  /** Since the last look. */
  isAsked = false;
  #cancel: Cancel | undefined;

  /** A connection may be silent for `within` milliseconds. `dropped` is called after a connection was given up. */
  constructor(
    connections: () => readonly WatchedConnection[],
    within: number,
    dropped: () => void = () => undefined,
  ) {
    this.#connections = connections;
    this.#dropped = dropped;
    this.#every = within / MOST_LOOKS;
  }

  /** To be called with each command, unless `isAsked`. */
  asked(): void {
    this.isAsked = true;
    if (!this.#cancel && this.#every < Infinity) this.#schedule();
  }

  close(): void {
    this.isAsked = false;
    this.#cancel?.();
    this.#cancel = undefined;
    this.#still.clear();
  }

  #schedule(): void {
    inRootContext(() => (this.#cancel = systemClock.schedule(this.#every, this.#look, true)));
  }

  readonly #look = (): void => {
    const connections = this.#connections();
    const waiting = connections.filter(isWaiting).map(({ stream }) => stream as Socket);
    const before = this.#still;
    this.#still = new Map(waiting.map((socket) => [socket, stillness(socket, before.get(socket))]));
    const isBusy = this.isAsked || waiting.length > 0 || connections.some(isConnecting);
    this.isAsked = false;
    this.#cancel = undefined;
    if (isBusy) this.#schedule();
    for (const [socket, { looks }] of this.#still) if (looks >= MOST_LOOKS) this.#drop(socket);
  };

  #drop(socket: Socket): void {
    this.#still.delete(socket);
    const within = this.#every * MOST_LOOKS;
    socket.destroy(new Error(`the server has answered nothing for ${within} ms`));
    this.#dropped();
  }
}

function stillness({ bytesRead }: Socket, before: Stillness | undefined): Stillness {
  return { bytesRead, looks: before?.bytesRead === bytesRead ? before.looks + 1 : 0 };
}

/** Whether the server owes an answer. */
function isWaiting({ stream, commandQueue }: WatchedConnection): boolean {
  const { bytesRead, destroyed, destroy } = (stream ?? {}) as Partial<Socket>;
  const isOpen = typeof bytesRead === 'number' && !destroyed && typeof destroy === 'function';
  return isOpen && (commandQueue?.length ?? 0) > 0;
}

function isConnecting({ status }: WatchedConnection): boolean {
  return status !== undefined && !AT_REST.includes(status);
}
