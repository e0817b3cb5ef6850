import { Injectable, Module } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  DistributedLock,
  DistributedLockModule,
  type DistributedLockOptionsFactory,
  InjectLocks,
  LockService,
  MemoryLockStore,
} from 'nest-holdfast';

@Injectable()
class Orders {
  constructor(readonly locks: LockService) {}

  @DistributedLock('order:<id>')
  async pay(id: string) {
    return this.locks.current()?.remaining ?? id;
  }
}

@Injectable()
class Billing {
  constructor(@InjectLocks('billing') readonly billing: LockService) {}

  @DistributedLock('bill:<id>', { locks: 'billing' })
  async bill(id: string) {
    return [id, this.billing.current()?.key];
  }
}

describe('DistributedLockModule.forRootAsync', () => {
  const SETTINGS = 'SETTINGS';

  @Module({ providers: [{ provide: SETTINGS, useValue: { ttl: 70_000 } }], exports: [SETTINGS] })
  class SettingsModule {}

  @Injectable()
  class Settings implements DistributedLockOptionsFactory {
    async createDistributedLockOptions() {
      return { store: new MemoryLockStore(), ttl: 80_000 };
    }
  }

  @Module({ providers: [Settings], exports: [Settings] })
  class SettingsClassModule {}

  it.each([
    [
      'a factory',
      70_000,
      {
        imports: [SettingsModule],
        inject: [SETTINGS],
        useFactory: async ({ ttl }: { ttl: number }) => ({ store: new MemoryLockStore(), ttl }),
      },
    ],
    ['a class', 80_000, { useClass: Settings }],
    ['an existing provider', 80_000, { imports: [SettingsClassModule], useExisting: Settings }],
  ])('takes its options from %s', async (_what, ttl, options) => {
    const testing = await Test.createTestingModule({
      imports: [DistributedLockModule.forRootAsync(options)],
      providers: [Orders],
    }).compile();
    const app = await testing.init();
    const remaining = await app.get(Orders).pay('1');
    expect(remaining).toBeGreaterThan(ttl - 20_000);
    expect(remaining).toBeLessThan(ttl);
    await app.close();
  });

  it('takes name and scope beside them', async () => {
    const testing = await Test.createTestingModule({
      imports: [
        DistributedLockModule.forRootAsync({
          name: 'billing',
          isGlobal: true,
          useFactory: () => ({ store: new MemoryLockStore() }),
        }),
      ],
      providers: [Billing],
    }).compile();
    const app = await testing.init();
    expect(await app.get(Billing).bill('1')).toEqual(['1', 'bill:1']);
    await app.close();
  });

  it.each<[string, unknown, RegExp]>([
    [
      'redis without a value',
      { redis: undefined },
      /^DistributedLockModule: redis is undefined \(is an env/,
    ],
    [
      'nothing',
      undefined,
      /^DistributedLockModule: the options must be an object, .*, got undefined$/,
    ],
    [
      'a name',
      { name: 'x' },
      /^DistributedLockModule: name belongs beside useFactory, not in its result$/,
    ],
    ['an unknown option', { stroe: 1 }, /unknown option "stroe" \(did you mean store\?\)/],
  ])('refuses a factory that gives %s', async (_, given, message) => {
    const imports = [
      DistributedLockModule.forRootAsync({ useFactory: async () => given as never }),
    ];
    await expect(Test.createTestingModule({ imports }).compile()).rejects.toThrow(message);
  });

  it.each<[object, string]>([
    [{ useFactroy: () => ({}) }, 'unknown option "useFactroy" (did you mean useFactory?)'],
    [{ useFactory: () => ({}), ttl: 5_000 }, 'unknown option "ttl"'],
    [{ useFactory: {} }, 'useFactory must be a function, got an object'],
    [
      { useFactory: () => ({}), inject: 'CONFIG' },
      'inject must be a list, got the string "CONFIG"',
    ],
    [{ imports: [] }, 'one of useFactory, useClass and useExisting has to make the options'],
  ])('refuses %p beside the factory, at once', (options, message) => {
    const make = () => DistributedLockModule.forRootAsync(options);
    expect(make).toThrow(`DistributedLockModule.forRootAsync: ${message}`);
  });

  it('refuses bad options as forRoot does', async () => {
    const useFactory = () => ({ store: new MemoryLockStore(), redis: 'redis://x' });
    const testing = Test.createTestingModule({
      imports: [DistributedLockModule.forRootAsync({ useFactory })],
    });
    await expect(testing.compile()).rejects.toThrow(/either redis or store/);
  });
});
