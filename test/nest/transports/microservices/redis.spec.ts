import { type RedisOptions, Transport } from '@nestjs/microservices';
import { RedisServer } from '../../../support/servers/redis-server.js';
import { until } from '../../../support/until.js';
import { expectTurns } from './redis-nats-turns.js';
import { itLocksMessages } from './tcp-redis-nats.js';

describe('messages over Redis', () => {
  itLocksMessages({
    async open() {
      const server = await RedisServer.start();
      return { options: optionsFor(server), broker: broker(server) };
    },
    tellsOfLeaving: false,
  });

  it('reach every process, and these take turns', async () => {
    const server = await RedisServer.start();
    await using _ = broker(server);
    await expectTurns(optionsFor(server), 2);
  });
});

function optionsFor({ port }: RedisServer): RedisOptions {
  return { transport: Transport.REDIS, options: { host: '127.0.0.1', port } };
}

/** Ends when Nest's connections have: it does not wait for their end in every version. */
function broker(server: RedisServer): AsyncDisposable {
  const clients = async () =>
    String(await server.command('CLIENT', 'LIST'))
      .trim()
      .split('\n');
  return {
    async [Symbol.asyncDispose]() {
      await until(async () => (await clients()).length === 1);
      await server.stop();
    },
  };
}
