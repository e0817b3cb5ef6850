import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Express } from 'express';
import { print } from './printed.js';

/** Sends requests to an application, with a fencing token, and prints what they are answered. */
export async function askAll(name: string, app: Express, paths: readonly string[]): Promise<void> {
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  for (const path of paths) {
    const headers = { 'Fencing-Token': '1' };
    const response = await fetch(`http://127.0.0.1:${port}/${path}`, { headers });
    console.log(`[${name} /${path}] ${response.status} ${await response.text()}`);
    print(`${name} /${path} headers`, [...response.headers]);
  }
  server.closeAllConnections();
  server.close();
}
