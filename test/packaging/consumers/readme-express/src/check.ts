import { deepEqual, equal } from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { lockErrorHandler } from 'nest-holdfast/express';
import { app, locks, redis, shutDown } from './app.js';
import { idempotent } from './idempotency.js';

let payments = 0;
const shop = express();
shop.use(express.json());
shop.post(
  '/payments',
  idempotent({ locks, redis, callerOf: () => 'lamp-shop' }, async () => {
    payments += 1;
    return { status: 201, body: { payments } };
  }),
);
shop.use(app);
shop.use(lockErrorHandler());

async function main(): Promise<void> {
  const server = shop.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const post = (path: string, headers = {}) =>
    fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', headers });
  await checkLocks(post);
  await checkIdempotency(post);
  server.close();
  server.closeAllConnections();
  await shutDown();
}

type Post = (path: string, headers?: Record<string, string>) => Promise<Response>;

async function checkLocks(post: Post): Promise<void> {
  const pay = () => post('/orders/7/pay');
  for (const answer of await Promise.all([pay(), pay(), pay()])) {
    equal(answer.status, 200);
    equal(await answer.text(), '{"paid":"7"}');
  }
  const lock = await locks.acquire('order:8');
  const busy = await post('/orders/8/pay');
  await lock.release();
  equal(busy.status, 409);
  const body = await busy.text();
  equal(/LOCK_TIMEOUT/.test(body), true, body);
  equal(/order:8/.test(body), false, body);
}

async function checkIdempotency(post: Post): Promise<void> {
  const pay = () => post('/payments', { 'idempotency-key': `k-${process.pid}` });
  for (const answer of await Promise.all([pay(), pay()])) {
    equal(answer.status, 201);
    deepEqual(await answer.json(), { payments: 1 });
  }
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
