import type { RedisClient } from '../../../redis-client/redis-client.js';
import { BatchProbe } from './batch-probe.js';

/** The part of the client's connection that is needed, a `net.Socket` or `tls.TLSSocket`. */
interface CorkableStream {
  readonly writableCorked: number;
  readonly writableLength: number;
  cork(): void;
  uncork(): void;
}

/** Bytes of the first write of a turn, about five commands: small, so that the server starts early; later writes double. */
const FIRST_WRITE = 1_024;

/**
 * Holds back the client's writes of one turn of the event loop, so that the commands of many callers leave in a few writes
 * (`bench/uncontended.mjs`). ioredis writes each command separately, which costs a system call per command.
 *
 * Never leaves a stream corked: `nextTick` runs whatever happens to the connection, and a stream that other code corked is left
 * untouched. Clients without such a stream (a Cluster, one that is connecting) are written to as usual.
 */
export class WriteBatch {
  readonly #client: RedisClient;
  #open: CorkableStream | undefined;
  /** Bytes at which the open batch is written. */
  #limit = FIRST_WRITE;
  #firstWrite = FIRST_WRITE;
  /** Commands of the open batch. */
  #size = 0;
  readonly #probe = new BatchProbe();

  constructor(client: RedisClient) {
    this.#client = client;
  }

  /**
   * From now on, the commands of a turn leave in one write, whatever their number: this process also waits for other servers.
   */
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
