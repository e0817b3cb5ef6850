import { once } from 'node:events';
import { connect, createServer } from 'node:http2';
import type {
  ClientHttp2Session,
  Http2Server,
  IncomingHttpHeaders,
  OutgoingHttpHeaders,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import { LockService, MemoryLockStore } from 'nest-holdfast/core';
import { lockDashboard } from 'nest-holdfast/dashboard';

describe('lockDashboard over HTTP/2', () => {
  const locks = new LockService(new MemoryLockStore());
  const authorize = () => ({ actor: 'ada' });
  const page = lockDashboard({ locks, authorize, actions: ['release'] });
  let server: Http2Server;
  let client: ClientHttp2Session;
  let origin: string;

  beforeAll(async () => {
    server = createServer(page as never).listen(0, '127.0.0.1');
    await once(server, 'listening');
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    client = connect(origin);
  });
  afterAll(async () => {
    page.close();
    client.destroy();
    server.close();
    await locks.close();
  });

  /** The status, the type, and the body until it ends or has the first event of a stream. */
  async function ask(headers: OutgoingHttpHeaders, body?: string): Promise<readonly unknown[]> {
    const stream = client.request(headers);
    stream.setEncoding('utf8').end(body);
    const [answer] = (await once(stream, 'response')) as [IncomingHttpHeaders];
    let text = '';
    for await (const chunk of stream) {
      text += chunk as string;
      if (text.startsWith('event: snapshot') && text.endsWith('\n\n')) break;
    }
    return [answer[':status'], answer['content-type']?.split(';')[0], text];
  }

  it('has the page, its data, its stream and its actions', async () => {
    await using lock = await locks.acquire('order:7');
    const told = expect.stringContaining('"key":"order:7"');
    expect(await ask({ ':path': '/' })).toEqual([200, 'text/html', expect.stringContaining('page.js')]); // prettier-ignore
    expect(await ask({ ':path': '/api/snapshot' })).toEqual([200, 'application/json', told]);
    expect(await ask({ ':path': '/api/events' })).toEqual([200, 'text/event-stream', told]);
    const post = { ':path': '/api/release', ':method': 'POST', 'content-type': 'application/json', 'x-holdfast': '1' }; // prettier-ignore
    const body = JSON.stringify({ key: 'order:7', fencingToken: '1' });
    const answer = await ask({ ...post, origin }, body);
    expect(answer).toEqual([200, 'application/json', expect.stringContaining('"not-held"')]);
    const foreign = await ask({ ...post, origin: 'https://evil.example' }, body);
    expect(foreign[0]).toBe(403);
    expect(lock.isHeld).toBe(true);
  });
});
