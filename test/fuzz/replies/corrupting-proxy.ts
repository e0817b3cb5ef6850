import { once } from 'node:events';
import { type AddressInfo, type Server, type Socket, connect, createServer } from 'node:net';

/** Bytes are cut out, changed, said twice, or lost with the rest of their connection. */
const FAULTS = ['cut', 'change', 'repeat', 'end'] as const;

/** A loopback proxy that corrupts what a server answers, while it is told to. */
export class CorruptingProxy {
  /** Has the next random number, from 0 to 1. Missing: all bytes pass as they are. */
  random: (() => number) | undefined;
  /** Chunks that were corrupted so far. */
  corrupted = 0;
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;
  readonly #target: number;

  private constructor(target: number) {
    this.#target = target;
    this.#server = createServer((client) => this.#join(client));
  }

  static async start(target: number): Promise<CorruptingProxy> {
    const proxy = new CorruptingProxy(target);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Passes everything again, on new connections: the old ones are out of step. */
  heal(): void {
    this.random = undefined;
    this.#cutAll();
  }

  stop(): void {
    this.#server.close();
    this.#cutAll();
  }

  #cutAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #join(client: Socket): void {
    const server = connect(this.#target, '127.0.0.1');
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => undefined); // 'close' follows
      socket.on('close', () => {
        this.#sockets.delete(socket);
        other.destroy();
      });
    }
    client.pipe(server);
    server.on('data', (chunk) => this.#answer(chunk, client));
  }

  #answer(chunk: Buffer, client: Socket): void {
    const { random } = this;
    if (!client.writable) return;
    if (!random || random() < 0.4) return void client.write(chunk);
    this.corrupted++;
    const upTo = (count: number) => Math.floor(random() * count);
    const fault = FAULTS[upTo(FAULTS.length)]!;
    const at = upTo(chunk.length);
    const count = 1 + upTo(Math.min(8, chunk.length - at));
    if (fault === 'end') return void client.end(chunk.subarray(0, at));
    client.write(corrupt(chunk, fault, { at, count, upTo }));
  }
}

interface Place {
  readonly at: number;
  readonly count: number;
  readonly upTo: (count: number) => number;
}

function corrupt(chunk: Buffer, fault: 'cut' | 'change' | 'repeat', { at, count, upTo }: Place) {
  const [before, part, after] = [chunk.subarray(0, at), chunk.subarray(at, at + count), chunk.subarray(at + count)]; // prettier-ignore
  if (fault === 'cut') return Buffer.concat([before, after]);
  if (fault === 'repeat') return Buffer.concat([before, part, part, after]);
  return Buffer.concat([before, part.map(() => upTo(256)), after]);
}
