import { Transport } from '@nestjs/microservices';
import { freePort } from '../../../support/processes/free-port.js';
import { itLocksMessages } from './tcp-redis-nats.js';

describe('messages over TCP', () => {
  itLocksMessages({
    async open() {
      const options = { host: '127.0.0.1', port: await freePort() };
      return { options: { transport: Transport.TCP, options } };
    },
    tellsOfLeaving: true,
  });
});
