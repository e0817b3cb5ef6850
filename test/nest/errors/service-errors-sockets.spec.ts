import { SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import { DistributedLock } from 'nest-holdfast';
import { SocketApp } from '../transports/support/socket-app.js';
import { TROUBLES } from '../transports/support/troubles.js';

@WebSocketGateway({ path: '/ws' })
class Gateway {
  @SubscribeMessage('pay')
  async pay() {
    return { event: 'paid', data: await this.reserve(7) };
  }

  @DistributedLock('stock:<id>', { waitTimeout: 0 })
  async reserve(id: number) {
    return id;
  }
}

describe('a locked method that the handler of a gateway calls', () => {
  const at = new SocketApp(Gateway, () => {});

  it.each(TROUBLES.filter(({ hasRun }) => !hasRun))(
    'is answered with its code: $name',
    async ({ strike, code }) => {
      strike(at.transport.control, 'stock:7');
      const answer = await at.ask('pay');
      expect(answer).toMatchObject({ event: 'exception', data: { code } });
      expect(JSON.stringify(answer)).not.toContain('stock:7');
    },
  );
});
