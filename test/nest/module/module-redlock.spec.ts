import { Injectable, type INestApplication } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { Redis } from 'ioredis';
import {
  DistributedLock,
  DistributedLockModule,
  type DistributedLockModuleOptions,
  getLockClientToken,
  LockService,
} from 'nest-holdfast';
import { RedisServer } from '../../support/servers/redis-server.js';
import { until } from '../../support/until.js';

@Injectable()
class Orders {
  @DistributedLock('order:<id>', { waitTimeout: 0 })
  async pay(id: string) {
    return id;
  }
}

describe('DistributedLockModule on a list of Redis masters', () => {
  let servers: RedisServer[];

  beforeAll(async () => {
    servers = await Promise.all([1, 2, 3].map(() => RedisServer.start()));
  });
  afterAll(() => Promise.all(servers.map((server) => server.stop())));

  const start = async (options: DistributedLockModuleOptions): Promise<INestApplication> => {
    const testing = await Test.createTestingModule({
      imports: [DistributedLockModule.forRoot({ nodeTimeout: 10_000, ...options })],
      providers: [Orders],
    }).compile();
    return testing.createNestApplication({ logger: false }).init();
  };
  const urls = () => servers.map(({ url }) => url);

  it('locks on a majority of them', async () => {
    const [here, there] = [await start({ redis: urls() }), await start({ redis: urls() })];
    expect(here.get(LockService).storeName).toBe('redlock');
    await here.get(LockService).withLock('order:1', async () => {
      const keys = await Promise.all(
        servers.map((server) => server.command('GET', 'lock:order:1')),
      );
      expect(keys.filter(Boolean).length).toBeGreaterThanOrEqual(2);
      await expect(there.get(Orders).pay('1')).rejects.toMatchObject({
        code: 'LOCK_TIMEOUT',
        nodes: servers.map(({ port }) => expect.objectContaining({ node: `127.0.0.1:${port}` })),
        message: expect.stringContaining('held'),
      });
    });
    expect(await there.get(Orders).pay('1')).toBe('1');
    await Promise.all([here.close(), there.close()]);
  });

  it('hands out its clients, as a list', async () => {
    const app = await start({ redis: urls() });
    const clients = app.get<Redis[]>(getLockClientToken());
    expect(await Promise.all(clients.map((client) => client.ping()))).toEqual(
      Array(3).fill('PONG'),
    );
    await app.close();
    await until(() => clients.every(({ status }) => status === 'end'));
  });

  it('leaves clients open that it was given', async () => {
    const own = servers.map(({ url }) => new Redis(url));
    const app = await start({ redis: own });
    expect(await app.get(Orders).pay('2')).toBe('2');
    await app.close();
    expect(await own[0]!.ping()).toBe('PONG');
    own.forEach((client) => client.disconnect());
  });

  it('closes the others when one of them is unusable', async () => {
    const connectionName = 'holdfast-redlock-test';
    const options = { host: '127.0.0.1', port: servers[0]!.port, connectionName };
    const failing = () => Promise.reject(new Error('no such secret'));
    await expect(start({ redis: [options, failing] })).rejects.toThrow('no such secret');
    await until(
      async () => !String(await servers[0]!.command('CLIENT', 'LIST')).includes(connectionName),
    );
  });

  it.each([
    [{ quarantine: 'sometimes' as never }, 'quarantine'],
    [{ nodeTimeout: 0 }, 'nodeTimeout'],
    [{ largestTtl: -1 }, 'largestTtl'],
  ])('refuses %j by name', async (options, name) => {
    await expect(start({ redis: urls(), ...options })).rejects.toThrow(name);
  });

  it('says what each node said when there is no majority', async () => {
    const nodes = await Promise.all([1, 2, 3].map(() => RedisServer.start()));
    const app = await start({ redis: nodes.map(({ url }) => url) });
    expect(await app.get(Orders).pay('3')).toBe('3');
    await Promise.all(nodes.slice(1).map((node) => node.kill()));
    let refused: unknown;
    await until(async () => {
      refused = await app
        .get(Orders)
        .pay('3')
        .catch((error: unknown) => error);
      return refused instanceof Error;
    });
    expect(refused).toMatchObject({ code: 'LOCK_STORE_FAILED' });
    expect(String(refused)).toMatch(/ of 3 nodes granted, 2 were needed; .*refused/);
    await app.close();
    await nodes[0]!.stop();
  });
});
