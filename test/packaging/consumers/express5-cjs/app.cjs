const { equal, match, throws } = require('node:assert/strict');
const { once } = require('node:events');
const { setTimeout: sleep } = require('node:timers/promises');
const compression = require('compression');
const express = require('express');
const { LockService, MemoryLockStore } = require('nest-holdfast/core');
const { lockDashboard } = require('nest-holdfast/dashboard');
const { lockRequest } = require('nest-holdfast/express');

throws(() => require('@nestjs/common'), { code: 'MODULE_NOT_FOUND' });

async function main() {
  const locks = new LockService(new MemoryLockStore());
  const app = express();
  let inside = 0;
  let most = 0;
  const lock = lockRequest('order:<params.id>', { locks });
  app.post('/orders/:id', lock, async (request, response) => {
    inside += 1;
    most = Math.max(most, inside);
    await sleep(20);
    inside -= 1;
    response.send(`paid ${request.params.id}`);
  });

  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${server.address().port}/orders/7`;
  const answers = await Promise.all([1, 2, 3].map(() => fetch(url, { method: 'POST' })));
  for (const answer of answers) match(await answer.text(), /paid 7/);
  equal(most, 1);
  equal(await locks.withLock('report', { ttl: 1_000 }, async () => 'done'), 'done');

  server.close();
  server.closeAllConnections();
  await checkPage(locks);
  await locks.close();
}

/** The live page behind a middleware that compresses: its files are, and its stream waits for nothing. */
async function checkPage(locks) {
  const page = lockDashboard({ locks, authorize: 'public' });
  const app = express().use(compression({ threshold: 0, filter: () => true }));
  const server = app.use('/locks', page).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const base = `http://127.0.0.1:${server.address().port}/locks/`;
  const [, script] = /src="([^"]+)"/.exec(await (await fetch(base)).text());
  const file = await fetch(base + script);
  equal(file.headers.get('content-encoding'), 'gzip');
  match(await file.text(), /Preact/);

  const stream = await fetch(`${base}api/events`);
  equal(stream.headers.get('content-encoding'), null);
  const held = await locks.acquire('order:7');
  let text = '';
  for await (const chunk of stream.body) {
    text += Buffer.from(chunk).toString();
    if (text.includes('order:7')) break;
  }
  await held.release();
  page.close();
  server.close();
  server.closeAllConnections();
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
