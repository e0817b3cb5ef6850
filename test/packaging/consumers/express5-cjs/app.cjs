const { equal, match, throws } = require('node:assert/strict');
const { once } = require('node:events');
const { setTimeout: sleep } = require('node:timers/promises');
const express = require('express');
const { LockService, MemoryLockStore } = require('nest-holdfast/core');
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
  await locks.close();
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
