import { once } from 'node:events';
import { type Server, type Socket, connect, createServer } from 'node:net';
import { Gate } from '../gate.js';
import { freePort } from './free-port.js';

/**
 * A loopback TCP proxy in front of a port, whose network a test can break. Bytes that a client has sent are still
 * delivered after it has gone, as a real network would.
 */
export class TcpProxy implements AsyncDisposable {
  /** Bytes from the clients to the server. */
  readonly requests = new Gate();
  /** Bytes from the server to the clients. */
  readonly replies = new Gate();
  /** Connections accepted since the proxy was made. */
  accepted = 0;
  #targetPort: number;
  readonly #links = new Set<Link>();
  #server: Server | undefined;

  static async start(targetPort: number): Promise<TcpProxy> {
    const proxy = new TcpProxy(await freePort(), targetPort);
    await proxy.accept();
    return proxy;
  }

  private constructor(
    readonly port: number,
    targetPort: number,
  ) {
    this.#targetPort = targetPort;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** Clients that are connected now. */
  get connections(): number {
    return [...this.#links].filter(({ client }) => !client.destroyed).length;
  }

  /** Lets everything through again, both ways, also what was held. */
  pass(): void {
    this.requests.pass();
    this.replies.pass();
  }

  /** New connections go to another port from now on. Open ones stay. */
  retarget(port: number): void {
    this.#targetPort = port;
  }

  /** Cuts every open connection at once; bytes on their way are lost. New connections are welcome. */
  cutAll(): void {
    for (const link of this.#links) link.cut();
  }

  /** Reads nothing more from open connections, as a peer that has vanished without a word: bytes back up at the senders. */
  stall(): void {
    for (const link of this.#links) link.stall();
  }

  /** New connections get ECONNREFUSED from now on. Open ones live on. */
  refuse(): void {
    this.#server?.close();
    this.#server = undefined;
  }

  /** Takes new connections again after `refuse`, on the same port. */
  async accept(): Promise<void> {
    if (this.#server) return;
    this.#server = createServer((client) => this.#join(client));
    this.#server.listen(this.port, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  /** Refuses, cuts, and leaves nothing open. Safe to call twice. */
  async stop(): Promise<void> {
    this.refuse();
    this.cutAll();
    await Promise.all([...this.#links].map((link) => link.closed));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  #join(client: Socket): void {
    this.accepted += 1;
    const link = joinSockets(client, connect(this.#targetPort, '127.0.0.1'), this);
    this.#links.add(link);
    void link.closed.then(() => this.#links.delete(link));
  }
}

/** A client's connection, and the one to the server that stands behind it. */
interface Link {
  readonly client: Socket;
  /** Resolves when both have closed. Never rejects. */
  readonly closed: Promise<unknown>;
  cut(): void;
  stall(): void;
}

function joinSockets(
  client: Socket,
  server: Socket,
  gates: { requests: Gate; replies: Gate },
): Link {
  const requests = gates.requests.lane(writeTo(server), () => server.end());
  const replies = gates.replies.lane(writeTo(client), () => client.end());
  client.on('data', (chunk) => gates.requests.put(requests, chunk));
  server.on('data', (chunk) => gates.replies.put(replies, chunk));
  client.on('close', () => requests.end());
  server.on('close', () => replies.end());
  return {
    client,
    closed: Promise.all([client, server].map(closing)),
    stall: () => {
      client.pause();
      server.pause();
    },
    cut: () => {
      client.destroy();
      server.destroy();
      requests.clear();
      replies.clear();
    },
  };
}

function closing(socket: Socket): Promise<void> {
  socket.setNoDelay(true);
  socket.on('error', () => {}); // 'close' follows and says all that matters here
  return new Promise((resolve) => socket.on('close', () => resolve()));
}

function writeTo(socket: Socket): (chunk: Buffer) => void {
  return (chunk) => {
    if (socket.writable) socket.write(chunk);
  };
}
