import { equal } from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { app, shutDown } from './app.js';

async function main(): Promise<void> {
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const pay = () => fetch(`http://127.0.0.1:${port}/orders/7/pay`, { method: 'POST' });
  for (const answer of await Promise.all([pay(), pay(), pay()])) {
    equal(answer.status, 200);
    equal(await answer.text(), '{"paid":"7"}');
  }
  server.close();
  server.closeAllConnections();
  await shutDown();
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
