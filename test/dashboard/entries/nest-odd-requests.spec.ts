import { once } from 'node:events';
import { connect } from 'node:net';
import type { CanActivate, INestApplication } from '@nestjs/common';
import { LockDashboardModule } from 'nest-holdfast/dashboard';
import { ADAPTERS, startApp } from '../../nest/support/test-app.js';
import type { TestApp } from '../../nest/support/test-app.js';
import { until } from '../../support/until.js';
import { ask, OF_THE_PAGE, snapshotAt } from '../support/browser-requests.js';

let asked = 0;
let checked = 0;
let mayAnswer = Promise.resolve<unknown>(undefined);

/** A guard that answers late, with an error. */
class LateGuard implements CanActivate {
  async canActivate(): Promise<boolean> {
    asked++;
    await mayAnswer;
    checked++;
    throw new Error('the session store is away');
  }
}

class Anybody implements CanActivate {
  canActivate = () => true;
}

async function originOf(app: INestApplication): Promise<string> {
  return (await app.getUrl()).replace('[::1]', '127.0.0.1');
}

const ACTORS: Record<string, (request: any) => any> = {
  ada: () => 'ada',
  later: () => Promise.resolve('ada'),
  nobody: () => undefined,
  'no text': () => ({ name: 'ada' }),
  throws: () => {
    throw new Error('no session');
  },
  rejects: () => Promise.reject(new Error('no session')),
};

describe.each(ADAPTERS)('Odd requests for the page on %s', (adapter) => {
  let app: TestApp;
  let origin: string;

  beforeAll(async () => {
    app = await startApp({
      adapter,
      imports: [
        LockDashboardModule.forRoot({ guards: 'public' }),
        LockDashboardModule.forRoot({ path: 'late', guards: [LateGuard] }),
        LockDashboardModule.forRoot({
          path: 'tools',
          guards: [new Anybody()],
          actions: ['release'],
          actor: (request) => ACTORS[decodeURIComponent(String(request.headers['x-as']))]!(request),
        }),
      ],
    });
    origin = await originOf(app.app);
  });
  afterAll(() => app[Symbol.asyncDispose]());

  it('HEAD is answered without a body, also of the stream', async () => {
    for (const address of ['', '/page.js', '/api/snapshot', '/api/events']) {
      const { status, body } = await ask(`${origin}/locks${address}`, { method: 'HEAD' });
      expect([address, status, body]).toEqual([address, 200, '']);
    }
  });

  it.each(['/locks/api/other', '/locks/api/%65vents/..', '/locks/page.js/x', '/locks//page.js'])(
    'there is no %s',
    async (address) => {
      const { status, body } = await ask(origin + address);
      expect([address, status === 200 && !body.includes('Preact')]).toEqual([address, false]);
    },
  );

  it('a guard that fails when the client has gone disturbs no other request', async () => {
    const before = { asked, checked };
    mayAnswer = once(app.app.getHttpServer(), 'connection').then(([from]) => once(from, 'close'));
    const socket = connect(Number(new URL(origin).port), '127.0.0.1');
    socket.write('GET /late/api/events HTTP/1.1\r\nhost: localhost\r\n\r\n');
    await until(() => asked > before.asked);
    expect(checked).toBe(before.checked);
    socket.destroy();
    await until(() => checked > before.checked);
    const { status, body } = await ask(`${origin}/late/api/snapshot`);
    expect(status).toBe(500);
    expect(body).not.toContain('session store');
    expect((await snapshotAt(`${origin}/locks/`)).store).toBe('memory');
  });

  it.each([
    ['ada', 200],
    ['later', 200],
    ['nobody', 403],
    ['no text', 403],
    ['throws', 500],
    ['rejects', 500],
  ])('a release as %s: %d', async (who, expected) => {
    const held = await app.locks.acquire(`stuck:${who}`);
    held.signal.addEventListener('abort', () => void held.release());
    const body = JSON.stringify({ key: held.key, fencingToken: String(held.fencingToken) });
    const headers = { ...OF_THE_PAGE, 'x-as': encodeURIComponent(who) };
    const { status } = await ask(`${origin}/tools/api/release`, { method: 'POST', headers, body });
    expect(status).toBe(expected);
    expect(held.isHeld).toBe(expected !== 200);
    await held.release();
  });
});
