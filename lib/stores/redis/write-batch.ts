import type { RedisClient } from './redis-client.js';

/** What is needed of the client's connection, a `net.Socket` or `tls.TLSSocket`. */
interface CorkableStream {
  readonly writableCorked: number;
  readonly writableLength: number;
  cork(): void;
  uncork(): void;
}

/** Bytes, about a dozen commands: enough to spare the system calls, and little enough to keep the server busy meanwhile. */
const BATCH_BYTES = 2_048;

/**
 * Holds back what the client writes in one turn of the event loop, so that the commands of many callers leave in a few
 * writes. ioredis writes each on its own, which costs a system call per command.
 *
 * Never leaves a stream corked: `nextTick` runs whatever happens to the connection, and a stream that somebody else corked
 * is left alone. Clients without such a stream (a Cluster, one that is connecting) are written to as usual.
 */
export class WriteBatch {
  readonly #client: RedisClient;
  #open: CorkableStream | undefined;

  constructor(client: RedisClient) {
    this.#client = client;
  }

  /** To be called before each command. */
  join(): void {
    const stream = this.#client.stream as Partial<CorkableStream> | null | undefined;
    if (this.#open) this.#flush(this.#open);
    else if (stream?.writableCorked === 0 && stream.cork && stream.uncork) this.#begin(stream);
  }

  #begin(stream: Partial<CorkableStream>): void {
    this.#open = stream as CorkableStream;
    this.#open.cork();
    process.nextTick(this.#end);
  }

  #flush(stream: CorkableStream): void {
    if (stream.writableLength < BATCH_BYTES) return;
    stream.uncork();
    stream.cork();
  }

  readonly #end = (): void => {
    this.#open!.uncork();
    this.#open = undefined;
  };
}
