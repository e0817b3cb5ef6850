import { Injectable, Module } from '@nestjs/common';
import type { CanActivate, ExecutionContext, INestApplication } from '@nestjs/common';
import type { LockAuditEvent } from 'nest-holdfast';
import { getLocksToken, DistributedLockModule, LockService, MemoryLockStore } from 'nest-holdfast';
import { LockDashboardModule } from 'nest-holdfast/dashboard';
import { ADAPTERS, startApp } from '../../nest/support/test-app.js';
import type { TestApp } from '../../nest/support/test-app.js';
import { until } from '../../support/until.js';
import { ask, Events, OF_THE_PAGE, snapshotAt } from '../support/browser-requests.js';

const ADMIN = { 'x-user': 'ada' };
const ADDRESSES = ['', '/page.js', '/page.css', '/api/snapshot', '/api/events', '/api/release'];

@Injectable()
class Users {
  nameIn(request: { headers: Record<string, unknown> }): unknown {
    return request.headers['x-user'];
  }
}

@Module({ providers: [Users], exports: [Users] })
class UsersModule {}

/** As guards of applications are: with something injected. */
@Injectable()
class AdminGuard implements CanActivate {
  constructor(readonly users: Users) {}

  canActivate(context: ExecutionContext): boolean {
    return this.users.nameIn(context.switchToHttp().getRequest()) === 'ada';
  }
}

async function originOf(app: INestApplication): Promise<string> {
  return (await app.getUrl()).replace('[::1]', '127.0.0.1');
}

describe.each(ADAPTERS)('LockDashboardModule on %s', (adapter) => {
  let app: TestApp;
  let page: string;

  beforeAll(async () => {
    app = await startApp({
      adapter,
      imports: [
        LockDashboardModule.forRoot({ guards: [AdminGuard], imports: [UsersModule] }),
        LockDashboardModule.forRoot({ path: 'open/locks', guards: 'public' }),
        DistributedLockModule.forRoot({ store: new MemoryLockStore(), name: 'reports' }),
        LockDashboardModule.forRoot({
          path: 'reports',
          guards: 'public',
          locks: getLocksToken('reports'),
        }),
        LockDashboardModule.forRoot({
          path: 'tools/locks',
          guards: [AdminGuard],
          imports: [UsersModule],
          actions: ['release'],
          actor: (request) => request.headers['x-user'],
        }),
      ],
      prepare: (nest) => nest.setGlobalPrefix('ops').enableCors(),
    });
    page = `${await originOf(app.app)}/ops/locks`;
  });
  afterAll(() => app[Symbol.asyncDispose]());

  it.each(ADDRESSES)('guards close it: %s', async (address) => {
    const post = { method: 'POST', headers: OF_THE_PAGE, body: '{}' };
    const { status } = await ask(page + address, address === '/api/release' ? post : {});
    expect(status).toBe(403);
  });

  it('guards open it: the page, its files and its data, below the global prefix', async () => {
    const { status, body, headers } = await ask(page, { headers: ADMIN });
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(headers['content-security-policy']).toContain("default-src 'none'");
    expect(headers['access-control-allow-origin']).toBeUndefined();
    const [, base] = /<base href="([^"]+)">/.exec(body)!;
    expect(new URL(base!, page).href).toBe(`${page}/`);
    for (const [, file] of body.matchAll(/(?:src|href)="(page[^"]+)"/g)) {
      const answer = await ask(new URL(file!, `${page}/`).href, { headers: ADMIN });
      expect([file, answer.status]).toEqual([file, 200]);
    }
    await app.locks.withLock('order:7', async () => {
      const events = await Events.open(`${page}/api/events`, ADMIN);
      expect((await events.until(({ total }) => total === 1)).locks).toMatchObject([
        { key: 'order:7', isLocal: true },
      ]);
      events.close();
    });
  });

  it('shows the locks that it is given', async () => {
    const origin = await originOf(app.app);
    const reports = app.app.get<LockService>(getLocksToken('reports'), { strict: false });
    await reports.withLock('report', async () => {
      const { locks } = await snapshotAt(`${origin}/ops/reports/`);
      expect(locks).toMatchObject([{ key: 'report' }]);
    });
  });

  it('a release is audited with the actor', async () => {
    const audited: LockAuditEvent[] = [];
    app.locks.events.on('audit', (event) => audited.push(event));
    const held = await app.locks.acquire('stuck');
    held.signal.addEventListener('abort', () => void held.release());
    const url = page.replace('/locks', '/tools/locks/api/release');
    const body = JSON.stringify({ key: 'stuck', fencingToken: String(held.fencingToken) });
    const headers = { ...OF_THE_PAGE, ...ADMIN };
    const answer = await ask(url, { method: 'POST', headers, body });
    expect([answer.status, JSON.parse(answer.body).released]).toEqual([200, true]);
    expect(audited).toMatchObject([{ actor: 'ada', via: 'dashboard', key: 'stuck' }]);
    const foreign = { ...headers, 'sec-fetch-site': 'cross-site' };
    expect((await ask(url, { method: 'POST', headers: foreign, body })).status).toBe(403);
  });

  it('allows no action unless it is told to', async () => {
    const url = page.replace('/locks', '/open/locks/api/release');
    const { status, body } = await ask(url, { method: 'POST', headers: OF_THE_PAGE, body: '{}' });
    expect([status, JSON.parse(body).code]).toEqual([403, 'LOCK_DASHBOARD_READ_ONLY']);
  });
});

describe.each(ADAPTERS)('An application on %s that shuts down', (adapter) => {
  it('says goodbye to those who look, and waits for none of them', async () => {
    const app = await startApp({
      adapter,
      imports: [LockDashboardModule.forRoot({ guards: 'public' })],
    });
    const events = await Events.open(`${await originOf(app.app)}/locks/api/events`);
    await events.until(() => true);
    await app[Symbol.asyncDispose]();
    await until(() => events.isOver);
    expect(events.names.at(-1)).toBe('bye');
  });
});
