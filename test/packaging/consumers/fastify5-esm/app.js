import 'reflect-metadata';
import { equal, match } from 'node:assert/strict';
import compress from '@fastify/compress';
import { Controller, Get, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { DistributedLockModule, LockService, MemoryLockStore } from 'nest-holdfast';
import { LockDashboardModule } from 'nest-holdfast/dashboard';

/** The live page behind a plugin that compresses: its answers are whole, and its stream waits for nothing. */
class Plain {
  answer() {
    return 'plain'.repeat(1_000);
  }
}
Get()(Plain.prototype, 'answer', Object.getOwnPropertyDescriptor(Plain.prototype, 'answer'));
Controller('plain')(Plain);

class App {}
Module({
  imports: [
    DistributedLockModule.forRoot({ store: new MemoryLockStore() }),
    LockDashboardModule.forRoot({ guards: 'public', actions: ['release'], actor: () => 'ada' }),
  ],
  controllers: [Plain],
})(App);

async function main() {
  const app = await NestFactory.create(App, new FastifyAdapter(), { logger: false });
  await app.register(compress, { threshold: 0, customTypes: /./ });
  await app.listen(0, '127.0.0.1');
  const origin = await app.getUrl();
  const locks = app.get(LockService);
  const plain = await fetch(`${origin}/plain`);
  match(plain.headers.get('content-encoding'), /./);
  equal((await plain.text()).length, 5_000);

  const html = await (await fetch(`${origin}/locks`)).text();
  const [, script] = /src="([^"]+)"/.exec(html);
  match(await (await fetch(`${origin}/locks/${script}`)).text(), /Preact/);
  await checkStream(`${origin}/locks/api/events`, locks);
  await checkRelease(`${origin}/locks/api/release`, locks);
  app.getHttpServer().closeAllConnections(); // fetch keeps some
  await app.close();
}

async function checkStream(url, locks) {
  const stream = await fetch(url);
  equal(stream.headers.get('content-encoding'), null);
  const held = await locks.acquire('order:7');
  let text = '';
  for await (const chunk of stream.body) {
    text += Buffer.from(chunk).toString();
    if (text.includes('order:7')) break;
  }
  await held.release();
}

async function checkRelease(url, locks) {
  const held = await locks.acquire('stuck');
  held.signal.addEventListener('abort', () => void held.release());
  const body = JSON.stringify({ key: 'stuck', fencingToken: String(held.fencingToken) });
  const headers = {
    'content-type': 'application/json',
    'x-holdfast': '1',
    origin: new URL(url).origin,
  };
  const answer = await fetch(url, { method: 'POST', headers, body });
  equal(answer.status, 200);
  equal((await answer.json()).released, true);
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
