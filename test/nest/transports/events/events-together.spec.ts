import { Controller } from '@nestjs/common';
import {
  type ClientProxy,
  ClientProxyFactory,
  EventPattern,
  Transport,
} from '@nestjs/microservices';
import { DistributedLock } from 'nest-holdfast';
import { EMPTY, type Observable } from 'rxjs';
import { freePort } from '../../../support/processes/free-port.js';
import { until } from '../../../support/until.js';
import { type TransportApp, openTransport } from '../support/transport-app.js';

const done: string[] = [];

@Controller()
class Broken {
  @EventPattern('paid')
  async audit(id: string): Promise<void> {
    done.push(`audit of ${id}`);
    throw new Error('the audit is broken');
  }

  @EventPattern('sent')
  @DistributedLock('order:<id>', { waitTimeout: 0, onTimeout: 'skip' })
  mail(id: string): Observable<string> {
    done.push(`mail for ${id}`);
    return EMPTY;
  }
}

@Controller()
class Working {
  @EventPattern('paid')
  @DistributedLock('order:<id>')
  async book(id: string): Promise<void> {
    done.push(`booked ${id}`);
  }

  @EventPattern('sent')
  @DistributedLock('order:<id>')
  async ship(id: string): Promise<void> {
    done.push(`shipped ${id}`);
  }
}

describe('an event that several handlers wait for', () => {
  let transport: TransportApp;
  let client: ClientProxy;

  beforeAll(async () => {
    const options = { host: '127.0.0.1', port: await freePort() };
    transport = await openTransport({ controllers: [Broken, Working] });
    transport.app.connectMicroservice({ transport: Transport.TCP, options });
    await transport.app.startAllMicroservices();
    client = ClientProxyFactory.create({ transport: Transport.TCP, options });
    await client.connect();
  });
  afterAll(async () => {
    await client.close();
    await transport[Symbol.asyncDispose]();
  });

  it.each([
    ['paid', 'fails', 'booked 7'],
    ['sent', 'is skipped', 'shipped 7'],
  ])('is handled by one (%s) though another one %s meanwhile', async (event, _, expected) => {
    transport.control.hold('order:7');
    client.emit(event, '7').subscribe();
    await until(() => transport.control.waiters('order:7') === 1);
    if (event === 'paid') await until(() => done.includes('audit of 7'));
    transport.control.free('order:7');
    await until(() => done.includes(expected));
  });
});
