import { once } from 'node:events';
import { Redis as Redis5 } from 'ioredis';
import { Redis as Redis6 } from 'ioredis6';

export { Redis5, Redis6 };

/** Every library gets its client from here, on a connection of its own to the same server. */
export async function connect(Redis, port, clientOptions = {}) {
  const client = new Redis({ port, host: '127.0.0.1', ...clientOptions });
  client.on('error', () => {}); // lost connections are part of some scenarios
  await once(client, 'ready');
  return client;
}

/** One connection to each of the servers. */
export function connectAll(Redis, ports, clientOptions) {
  return Promise.all(ports.map((port) => connect(Redis, port, clientOptions)));
}
