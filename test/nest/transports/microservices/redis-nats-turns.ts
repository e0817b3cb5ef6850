import { Controller } from '@nestjs/common';
import {
  type ClientOptions,
  type ClientProxy,
  ClientProxyFactory,
  EventPattern,
  type MicroserviceOptions,
} from '@nestjs/microservices';
import { DistributedLock, RedisLockStore } from 'nest-holdfast';
import { lastValueFrom } from 'rxjs';
import { OwnClient } from '../../../stores/redis/locks.js';
import { RedisServer } from '../../../support/servers/redis-server.js';
import { until } from '../../../support/until.js';
import { startApp } from '../../support/test-app.js';

const EVENTS = 8;

/**
 * Lets two processes, whose locks are in one Redis, listen to the same events, and checks that they take turns: each reads a
 * number and writes it back larger by one, and some of it would be lost without. `each`: how often one event is handled.
 */
export async function expectTurns(options: MicroserviceOptions, each: 1 | 2): Promise<void> {
  await using server = await RedisServer.start();
  await using client = new OwnClient(server.url);
  let handled = 0;

  @Controller()
  class Counter {
    @EventPattern('counted')
    @DistributedLock('counter')
    async count(_event: object) {
      const before = Number(await client.redis.get('count'));
      await client.redis.set('count', before + 1);
      handled += 1;
    }
  }

  const startProcess = () =>
    startApp({
      controllers: [Counter],
      lockOptions: { store: new RedisLockStore(client.redis) },
      async prepare(app) {
        app.connectMicroservice<MicroserviceOptions>(options);
        await app.startAllMicroservices();
      },
    });
  const processes = [await startProcess(), await startProcess()];
  const sender: ClientProxy = ClientProxyFactory.create(options as ClientOptions);
  try {
    await sender.connect();
    for (let count = 0; count < EVENTS; count += 1) {
      await lastValueFrom(sender.emit('counted', {}), { defaultValue: undefined });
    }
    await until(() => handled >= each * EVENTS);
  } finally {
    await sender.close();
    for (const app of processes) await app[Symbol.asyncDispose]();
  }
  expect(handled).toBe(each * EVENTS);
  expect(await client.redis.get('count')).toBe(String(handled));
}
