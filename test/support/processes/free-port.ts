import { createServer } from 'node:net';

/** A loopback port without a listener at this moment. */
export async function freePort(): Promise<number> {
  return (await probe(0))!;
}

/** As `freePort`, of those that no client gets by chance: a server finds its port free when it comes back. */
export async function freeServerPort(): Promise<number> {
  for (;;) {
    const port = randomLowPort();
    if ((await probe(port)) !== undefined) return port;
  }
}

/** As `freeServerPort`, for a Redis Cluster node, which also listens on its port + 10000. */
export async function freeClusterPort(): Promise<number> {
  for (;;) {
    const port = randomLowPort();
    if ((await probe(port)) !== undefined && (await probe(port + 10_000)) !== undefined)
      return port;
  }
}

/** Below the ephemeral range, which begins at 32768 or higher. */
function randomLowPort(): number {
  return 20_000 + Math.floor(Math.random() * 12_000);
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
