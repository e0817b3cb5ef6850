import { createServer } from 'node:net';

/** The ports of servers: below the ephemeral range, from which clients get theirs and which begins at 32768 or higher. */
const SERVER_PORTS = { first: 23_000, count: 9_600 };
/** The ports of Redis Cluster nodes: each node also listens on its port + 10000, which is below `SERVER_PORTS`. */
const CLUSTER_PORTS = { first: 10_000, count: 2_400 };
/** Each Jest worker chooses from a share of its own. */
const WORKERS = 8;
const WORKER = Number(process.env['JEST_WORKER_ID'] ?? 0) % WORKERS;

const chosen = { server: counter(), cluster: counter() };

/**
 * A loopback port without a listener. No client gets it by chance, and no other worker chooses it:
 * a server that has stopped finds its port free when it comes back.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = portOf(SERVER_PORTS, chosen.server());
    if (await isFree(port)) return port;
  }
}

/** As `freePort`, for a Redis Cluster node. */
export async function freeClusterPort(): Promise<number> {
  for (;;) {
    const port = portOf(CLUSTER_PORTS, chosen.cluster());
    if ((await isFree(port)) && (await isFree(port + 10_000))) return port;
  }
}

/** Counts on from a random number: the next spec file of the worker begins elsewhere. */
function counter(): () => number {
  let count = Math.floor(Math.random() * SERVER_PORTS.count);
  return () => count++;
}

function portOf({ first, count }: typeof SERVER_PORTS, chosenCount: number): number {
  const share = count / WORKERS;
  return first + WORKER * share + (chosenCount % share);
}

/** Binds `port` and frees it again. */
function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
