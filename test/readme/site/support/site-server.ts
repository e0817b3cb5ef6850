import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
};

export interface SiteServer {
  readonly url: string;
  close(): void;
}

async function sendFile(folder: string, path: string, response: ServerResponse): Promise<void> {
  const file = decodeURIComponent(path).replace(/\/$/, '/index.html');
  try {
    const body = await readFile(join(folder, file));
    const type = TYPES[extname(file)] ?? 'application/octet-stream';
    response.writeHead(200, { 'content-type': type }).end(body);
  } catch {
    response.writeHead(file === '/favicon.ico' ? 204 : 404).end();
  }
}

/** Serves the files of a folder on a free loopback port. */
export async function serveSite(folder: string): Promise<SiteServer> {
  const server = createServer((request, response) => {
    void sendFile(folder, new URL(request.url!, 'http://127.0.0.1').pathname, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${port}/`, close };
}
