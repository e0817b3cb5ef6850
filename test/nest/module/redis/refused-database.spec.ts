import { Test } from '@nestjs/testing';
import { DistributedLockModule, LockService } from 'nest-holdfast';
import { RedisServer } from '../../../support/servers/redis-server.js';
import { until } from '../../../support/until.js';

const REFUSED = /DB index is out of range/;

describe('a database that the server does not have', () => {
  let server: RedisServer;

  beforeEach(async () => {
    server = await RedisServer.start();
  });
  afterEach(() => server.stop());

  const keys = async () => String(await server.command('INFO', 'keyspace'));

  it.each(['a URL', 'options'])(
    'fails the call, and locks nothing in database 0: %s',
    async (kind) => {
      const { port } = server;
      const redis = kind === 'a URL' ? `${server.url}/99` : { host: '127.0.0.1', port, db: 99 };
      const imports = [DistributedLockModule.forRoot({ redis, logs: false })];
      const testing = await Test.createTestingModule({ imports }).compile();
      const app = testing.createNestApplication({ logger: false });
      await app.init();
      const work = jest.fn();
      const failure = await until(async () => {
        const error: unknown = await app.get(LockService).withLock('order:42', { waitTimeout: 0 }, work).catch((e: unknown) => e); // prettier-ignore
        return error instanceof Error && REFUSED.test(error.message) ? error : undefined;
      });
      expect(failure).toMatchObject({
        code: 'LOCK_STORE_FAILED',
        cause: { message: expect.stringMatching(REFUSED) },
      });
      expect(work).not.toHaveBeenCalled();
      expect(await keys()).not.toContain('db0');
      await app.close();
    },
  );
});
