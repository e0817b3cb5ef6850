import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { ServerProcess } from './server-process.js';

/** A Redis for the time of the demo. It ends when this is disposed. */
export interface DemoRedis extends AsyncDisposable {
  readonly url: string;
}

/** The system tells the second where a folder of `PATH` may not be read. */
const NOT_INSTALLED: readonly unknown[] = ['ENOENT', 'EACCES'];

/** Starts a Redis that keeps nothing, on a free loopback port. Resolves `undefined` where redis-server is not installed. */
export async function startRedis(
  directory: string,
  signal: AbortSignal,
): Promise<DemoRedis | undefined> {
  const port = await freePort();
  const where = ['--bind', '127.0.0.1', '--port', String(port), '--dir', directory];
  const keepNothing = ['--save', '', '--appendonly', 'no'];
  try {
    const server = await ServerProcess.start('redis-server', [...where, ...keepNothing], {
      ready: /ready to accept connections/i,
      signal,
    });
    return {
      url: `redis://127.0.0.1:${port}`,
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    };
  } catch (error) {
    if (NOT_INSTALLED.includes((error as NodeJS.ErrnoException).code)) return undefined;
    throw error;
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
