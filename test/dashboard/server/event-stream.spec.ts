import { once } from 'node:events';
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { FakeClock } from 'nest-holdfast/testing';
import { EventStream } from '../../../lib/dashboard/server/event-stream.js';
import { until } from '../../support/until.js';

/** A stream to a client that reads when it is told to. */
async function streamed() {
  const clock = new FakeClock();
  const server = createServer();
  const opened = once(server, 'request') as Promise<[unknown, ServerResponse]>;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const client: Socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.on('error', () => {});
  client.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n');
  const [, response] = await opened;
  const stream = new EventStream(response, clock);
  let text = '';
  client.setEncoding('utf8');
  const read = () => void client.on('data', (chunk: string) => (text += chunk));
  return {
    clock,
    stream,
    response,
    client,
    read,
    /** Sends until neither machine takes more. */
    fill: () =>
      until(async () => {
        stream.send('snapshot', LARGE);
        const before = response.writableLength;
        await new Promise((resolve) => setTimeout(resolve, 50));
        return response.writableNeedDrain && response.writableLength === before;
      }),
    get text() {
      return text;
    },
    async [Symbol.asyncDispose]() {
      client.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const LARGE = 'x'.repeat(1_000_000);

describe('A stream of events', () => {
  it('a slow reader skips events: never more than one waits, and the last one arrives', async () => {
    await using it = await streamed();
    for (let number = 0; number < 200; number++) {
      it.stream.send('snapshot', `${number}:${LARGE}`);
      await new Promise(setImmediate);
    }
    expect(it.response.writableLength).toBeLessThan(50 * LARGE.length);
    it.read();
    await until(() => it.text.includes('data: 199:'));
    const arrived = it.text.match(/^data: \d+/gm)!;
    expect(arrived.length).toBeLessThan(100);
  });

  it('is cut off when its reader takes nothing for a minute', async () => {
    await using it = await streamed();
    await it.fill();
    await it.clock.advance(59_000);
    expect(it.response.destroyed).toBe(false);
    await it.clock.advance(2_000);
    expect(it.response.destroyed).toBe(true);
  });

  it('does not wait for such a reader when it ends', async () => {
    await using it = await streamed();
    await it.fill();
    it.stream.end('bye');
    expect(it.response.destroyed).toBe(true);
  });

  it('has a comment every 15 s', async () => {
    await using it = await streamed();
    it.read();
    await it.clock.advance(15_000);
    await until(() => it.text.endsWith(':\n\n\r\n'));
    await it.clock.advance(15_000);
    await until(() => it.text.match(/:\n\n\r\n/g)!.length === 2);
  });

  it('leaves no timer when the client has gone', async () => {
    await using it = await streamed();
    it.client.destroy();
    await until(() => it.response.destroyed);
    expect(it.clock.pendingTimers).toBe(0);
  });
});
