import { type NatsOptions, Transport } from '@nestjs/microservices';
import { NatsServer } from '../../../support/servers/nats-server.js';
import { expectTurns } from './redis-nats-turns.js';
import { itLocksMessages } from './tcp-redis-nats.js';

describe('messages over NATS', () => {
  itLocksMessages({
    async open() {
      const broker = await NatsServer.start();
      return { options: optionsFor(broker), broker };
    },
    tellsOfLeaving: false,
  });

  it('reach every process, and these take turns', async () => {
    await using server = await NatsServer.start();
    await expectTurns(optionsFor(server), 2);
  });

  it('reach one process of a queue', async () => {
    await using server = await NatsServer.start();
    await expectTurns(optionsFor(server, 'orders'), 1);
  });
});

function optionsFor({ url }: NatsServer, queue?: string): NatsOptions {
  return { transport: Transport.NATS, options: { servers: [url], queue } };
}
