import { freePort } from '../../../support/processes/free-port.js';
import { RedisServer } from '../../../support/servers/redis-server.js';
import { until } from '../../../support/until.js';
import { CLIENTS, AppInstance, standing } from '../../support/app-instance.js';

const TTL = 20_000;

describe.each(CLIENTS)('When the master becomes a replica, with %s,', (_name, Client) => {
  let server: RedisServer;
  let own: AppInstance;
  let other: AppInstance;
  /** How often the client was asked whether to connect anew. */
  let asked: number;

  beforeEach(async () => {
    asked = 0;
    server = await RedisServer.start();
    const reconnectOnError = (error: Error) => {
      if (!error.message.startsWith('READONLY')) return false;
      asked++;
      return 2 as const;
    };
    own = new AppInstance(server.url, { Client, client: { reconnectOnError }, ttl: TTL });
    other = new AppInstance(server.url, { Client, ttl: TTL });
  });

  afterEach(async () => {
    await Promise.all([own, other].map((each) => each[Symbol.asyncDispose]()));
    await server.stop();
  });

  /** The connections stay open, and the data is there. */
  const demote = async () => server.command('REPLICAOF', '127.0.0.1', await freePort());
  const promote = () => server.command('REPLICAOF', 'NO', 'ONE');

  it.each([
    ['of one holder', {}],
    ['of a reader', { mode: 'read' }],
    ['with a permit', { permits: 3 }],
  ] as const)(
    'the extension of a lock %s makes its client connect anew',
    async (_what, options) => {
      const lock = await own.locks.acquire('order:42', options);
      await demote();
      const extending = lock.extend(TTL);
      await until(() => asked > 0);
      await promote();
      await extending;
      expect(await lock.release()).toBe(true);
    },
  );

  it.each([
    ['alone', {}],
    ['as a reader', { mode: 'read' }],
    ['with a permit', { permits: 3 }],
  ] as const)('who waits to have it %s makes its client connect anew', async (_what, options) => {
    const held = await other.locks.acquire('order:42');
    const waiting = own.locks.acquire('order:42', options);
    await standing(server, 'order:42', 1);
    await demote();
    await until(() => asked > 0);
    await promote();
    await held.release();
    expect(await (await waiting).release()).toBe(true);
  });

  it('one lock of a call that the server cannot serve keeps nothing from the others', async () => {
    await server.command('LPUSH', '{lock:odd}:shared', 'a list');
    await server.command('SET', 'lock:odd', '*inf', 'PX', 60_000);
    const [fine, odd] = await Promise.allSettled([
      own.locks.acquire('order:42', { mode: 'read' }),
      own.locks.acquire('odd', { mode: 'read', waitTimeout: 100 }),
    ]);
    expect(odd).toMatchObject({ reason: { code: 'LOCK_STORE_FAILED' } });
    expect(fine.status).toBe('fulfilled');
  });
});
