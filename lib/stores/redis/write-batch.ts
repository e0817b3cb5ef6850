import type { RedisClient } from './redis-client.js';
import { TurnProbe } from './turn-probe.js';

/** What is needed of the client's connection, a `net.Socket` or `tls.TLSSocket`. */
interface CorkableStream {
  readonly writableCorked: number;
  readonly writableLength: number;
  cork(): void;
  uncork(): void;
}

/** Bytes of the first write of a turn, about five commands: the server has something to do. Each next one is twice as large. */
const FIRST_WRITE = 1_024;

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
  /** Bytes at which the open batch is written. */
  #limit = FIRST_WRITE;
  #firstWrite = FIRST_WRITE;
  /** Commands of the open batch. */
  #size = 0;
  readonly #probe = new TurnProbe();

  constructor(client: RedisClient) {
    this.#client = client;
  }

  /** From now on, the commands of a turn leave in one write, however many they are: other servers keep this process waiting. */
  holdWholeTurns(): void {
    this.#firstWrite = Infinity;
  }

  /** To be called before each command. */
  join(): void {
    if (this.#open) {
      this.#size++;
      if (this.#open.writableLength >= this.#limit) this.#flush(this.#open);
    } else if (!this.#probe.goesAtOnce()) {
      this.#begin(this.#client.stream as Partial<CorkableStream> | null | undefined);
    }
  }

  #begin(stream: Partial<CorkableStream> | null | undefined): void {
    if (stream?.writableCorked !== 0 || !stream.cork || !stream.uncork) return;
    this.#open = stream as CorkableStream;
    this.#size = 1;
    this.#limit = this.#firstWrite;
    this.#open.cork();
    process.nextTick(this.#end);
  }

  #flush(stream: CorkableStream): void {
    stream.uncork();
    stream.cork();
    this.#limit *= 2;
  }

  readonly #end = (): void => {
    this.#probe.looked(this.#size);
    this.#open!.uncork();
    this.#open = undefined;
  };
}
