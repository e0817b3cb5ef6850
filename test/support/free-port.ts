import { createServer } from 'node:net';

/** A loopback port that nobody listens on at this moment. */
export async function freePort(): Promise<number> {
  return (await probe(0))!;
}

/** As `freePort`, for a Redis Cluster node, which also listens on its port + 10000. */
export async function freeClusterPort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 12_000); // below the ephemeral range, bus included
    if ((await probe(port)) !== undefined && (await probe(port + 10_000)) !== undefined)
      return port;
  }
}

/** Binds and frees `port` again. Resolves `undefined` when it is taken. */
function probe(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen(port, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' ? address?.port : undefined));
    });
  });
}
