import { Controller, Get } from '@nestjs/common';
import express from 'express';
import { Redis } from 'ioredis';
import { DistributedLock, LockService, LockTimeoutError, RedisLockStore } from 'nest-holdfast';
import { lockErrorHandler, lockRequest } from 'nest-holdfast/express';
import { RedlockStore } from 'nest-holdfast/redlock';
import supertest from 'supertest';
import { RedisServer } from '../../../support/servers/redis-server.js';
import { ADAPTERS, startApp } from '../../support/test-app.js';

const BUSY = { code: 'LOCK_TIMEOUT', message: 'The lock is held' };
const AT_ONCE = { waitTimeout: 0 };
const KEY = 'user:bob@example.com';

/** Its errors name the nodes, and what each of them has said. */
describe('A stranger who asks for a key of a Redlock', () => {
  let servers: RedisServer[];
  let clients: Redis[];
  let locks: LockService;

  beforeAll(async () => {
    servers = await Promise.all([1, 2, 3].map(() => RedisServer.start()));
    clients = servers.map(({ url }) => new Redis(url));
    locks = new LockService(redlock(), AT_ONCE);
    for (const client of clients) await client.set(`lock:${KEY}`, 'another process');
    await servers[2]!.command('ACL', 'SETUSER', 'default', '-@scripting');
  });
  afterAll(async () => {
    await locks.close();
    for (const client of clients) client.disconnect();
    await Promise.all(servers.map((server) => server.stop()));
  });

  function redlock(): RedlockStore {
    const nodes = clients.map((client) => new RedisLockStore(client));
    return new RedlockStore(nodes, { nodeTimeout: 60_000, quarantine: false }); // a busy machine is no hung node
  }

  /** The facts that the program knows, and the client must not. */
  async function known(): Promise<string[]> {
    const error = (await locks.acquire(KEY).catch((thrown: unknown) => thrown)) as LockTimeoutError;
    expect(error).toBeInstanceOf(LockTimeoutError);
    const names = servers.map(({ port }) => `127.0.0.1:${port}`);
    for (const name of names) expect(error.message).toContain(name);
    // Whether the third node has said NOPERM by then is a race.
    return [...names, 'NOPERM', 'nodes', KEY, 'attempts'];
  }

  it.each(ADAPTERS)('is told neither nodes nor keys: Nest on %s', async (adapter) => {
    @Controller()
    class Users {
      @Get('user')
      @DistributedLock(KEY)
      async user() {}
    }
    const secrets = await known();
    const lockOptions = { store: redlock(), ...AT_ONCE };
    await using app = await startApp({ adapter, controllers: [Users], lockOptions });
    const { body, text, headers } = await app.http.get('/user').expect(409);
    expect(body).toEqual({ statusCode: 409, ...BUSY });
    for (const secret of secrets) expect(text + JSON.stringify(headers)).not.toContain(secret);
  });

  it.each(['next', 'respond'] as const)(
    "is told neither nodes nor keys: Express with onError: '%s'",
    async (onError) => {
      const secrets = await known();
      const app = express();
      app.get(
        '/user',
        lockRequest(() => KEY, { locks, onError }),
      );
      app.use(lockErrorHandler());
      const { body, text, headers } = await supertest(app).get('/user').expect(409);
      expect(body).toEqual(BUSY);
      for (const secret of secrets) expect(text + JSON.stringify(headers)).not.toContain(secret);
    },
  );
});
