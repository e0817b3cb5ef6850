import { Test } from '@nestjs/testing';
import {
  DistributedLockModule,
  type DistributedLockModuleOptions,
  LockService,
  MemoryLockStore,
} from 'nest-holdfast';
import { RedisServer } from '../../../support/servers/redis-server.js';

let one: RedisServer;
let other: RedisServer;

beforeAll(async () => {
  [one, other] = await Promise.all([RedisServer.start(), RedisServer.start()]);
});

afterAll(() => Promise.all([one.stop(), other.stop()]));

function start(options: DistributedLockModuleOptions) {
  const imports = [DistributedLockModule.forRoot({ logs: false, ...options })];
  return Test.createTestingModule({ imports }).compile();
}

describe('forRoot({ migrate })', () => {
  it('locks in both stores', async () => {
    const [from, to] = [{ redis: one.url }, { redis: other.url, keyPrefix: 'new:' }];
    const app = await start({ migrate: { from, to, phase: 'dual', largestTtl: 30_000 } });
    const locks = app.get(LockService);
    expect(locks.storeName).toBe('redis+redis');
    await locks.withLock('order:42', async () => {
      expect(await one.command('EXISTS', 'lock:order:42')).toBe(1);
      expect(await other.command('EXISTS', 'new:order:42')).toBe(1);
    });
    expect(await one.command('EXISTS', 'lock:order:42')).toBe(0);
    await app.close();
  });

  it('does not start with the target alone while the source lets the old configuration in', async () => {
    const [from, to] = [{ redis: one.url }, { redis: other.url }];
    const started = start({ migrate: { from, to, phase: 'to', largestTtl: 30_000 } });
    await expect(started).rejects.toMatchObject({ code: 'LOCK_MIGRATE_FROM_OPEN' });
    const app = await start({ migrate: { to, phase: 'to', largestTtl: 30_000, fromClosed: true } });
    expect(app.get(LockService).storeName).toBe('redis');
    await app.close();
  });

  it('does not start where both keep their locks in one place', async () => {
    const side = { redis: one.url };
    const started = start({ migrate: { from: side, to: side, phase: 'dual', largestTtl: 30_000 } });
    await expect(started).rejects.toMatchObject({ code: 'LOCK_MIGRATE_SAME_KEYS' });
  });

  it('names what is wrong with the options, as from the environment', async () => {
    const store = () => ({ store: new MemoryLockStore() });
    const migrate = { from: store(), to: store(), phase: 'dual', largestTtl: 30_000 } as const;
    const wrong: readonly (readonly [object, RegExp])[] = [
      [
        { ...migrate, phase: 'duel' },
        /migrate\.phase must be 'dual', 'handover' or 'to', got the string "duel"/,
      ],
      [{ ...migrate, phase: undefined }, /migrate\.phase must be .*got undefined/],
      [{ ...migrate, largestTtl: '30000' }, /migrate\.largestTtl must be a whole number of ms/],
      [{ ...migrate, to: { redis: undefined } }, /migrate\.to must have either redis or store/],
      [{ ...migrate, to: { redis: '' } }, /migrate\.to must have either redis or store/],
      [{ ...migrate, to: { redis: null, ...store() } }, /migrate\.to\.redis must be a URL/],
      [
        { ...migrate, from: { redis: '', ...store() } },
        /migrate\.from must have either redis or store/,
      ],
      [{ ...migrate, form: store() }, /form/],
    ];
    for (const [given, message] of wrong)
      await expect(start({ migrate: given as never })).rejects.toMatchObject({
        code: 'LOCK_OPTION_INVALID',
        message: expect.stringMatching(message),
      });
    await expect(start({ migrate, redis: one.url })).rejects.toThrow(
      'give either migrate, or redis or store',
    );
  });
});
