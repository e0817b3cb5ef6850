import { equal, match, rejects } from 'node:assert/strict';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import express from 'express';
import { LockService, LockTimeoutError, MemoryLockStore } from 'nest-holdfast/core';
import { lockDashboard } from 'nest-holdfast/dashboard';
import { lockRequest } from 'nest-holdfast/express';

await rejects(import('@nestjs/common'), { code: 'ERR_MODULE_NOT_FOUND' });

const locks = new LockService(new MemoryLockStore());
const app = express();
let inside = 0;
let most = 0;
app.post('/orders/:id', lockRequest('order:<params.id>', { locks }), async (request, response) => {
  inside += 1;
  most = Math.max(most, inside);
  await sleep(20);
  inside -= 1;
  response.send(`paid ${request.params.id}`);
});

const page = lockDashboard({ locks, authorize: () => true });
app.use('/locks', page);

const server = app.listen(0, '127.0.0.1');
await once(server, 'listening');
const url = `http://127.0.0.1:${server.address().port}/orders/7`;
const answers = await Promise.all([1, 2, 3].map(() => fetch(url, { method: 'POST' })));
for (const answer of answers) match(await answer.text(), /paid 7/);
equal(most, 1);

const origin = new URL(url).origin;
match(await (await fetch(`${origin}/locks`)).text(), /<base href=".\/locks\/">/);
match(await (await fetch(`${origin}/locks/page.js`)).text(), /.{10000}/s);
equal((await (await fetch(`${origin}/locks/api/snapshot`)).json()).store, 'memory');

const lock = await locks.acquire('report');
await rejects(locks.acquire('report', { waitTimeout: 0 }), LockTimeoutError);
await lock.release();

page.close();
server.close();
server.closeAllConnections();
await locks.close();
