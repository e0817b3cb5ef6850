import type { RedisClient } from './redis-client.js';

/** What is needed of the client's connection, a `net.Socket` or `tls.TLSSocket`. */
interface CorkableStream {
  readonly writableCorked: number;
  cork(): void;
  uncork(): void;
}

/**
 * Holds back what the client writes until the running turn of the event loop is over, so that the commands of many callers
 * leave in one write. ioredis writes each on its own, which costs a system call per command.
 *
 * Never leaves a stream corked: `nextTick` runs whatever happens to the connection, and a stream that somebody else corked
 * is left alone. Clients without such a stream (a Cluster, one that is connecting) are written to as usual.
 */
export function corked(client: RedisClient): void {
  const stream = client.stream as Partial<CorkableStream> | null | undefined;
  if (stream?.writableCorked !== 0 || !stream.cork || !stream.uncork) return;
  stream.cork();
  process.nextTick(uncork, stream);
}

function uncork(stream: CorkableStream): void {
  stream.uncork();
}
