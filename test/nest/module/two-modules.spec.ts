import { Injectable, Module, type DynamicModule } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  DistributedLock,
  DistributedLockModule,
  type DistributedLockModuleOptions,
  getLocksToken,
  LockService,
  MemoryLockStore,
} from 'nest-holdfast';
import { LockTestingModule } from 'nest-holdfast/testing';

@Injectable()
class Payments {
  constructor(readonly locks: LockService) {}
}

@Injectable()
class Decorated {
  @DistributedLock('order:<id>')
  async pay(id: string) {
    return id;
  }
}

const UNNAMED =
  /^DistributedLockModule: this application has 2 of them without a name, and the order of imports would decide .* forRoot\({ name: 'reports' }\)$/;

const inMemory = (more: object = {}) =>
  DistributedLockModule.forRoot({ store: new MemoryLockStore(), ...more });

/** An application, and a library that it uses, each of which brings its locks along. */
function appWith(own: DynamicModule, ofLibrary: DynamicModule, libraryFirst: boolean) {
  @Module({ imports: [ofLibrary] })
  class LibraryModule {}
  @Module({ imports: libraryFirst ? [LibraryModule, own] : [own, LibraryModule] })
  class AppModule {}
  return AppModule;
}

async function start(imports: (DynamicModule | (new () => object))[], providers = [Payments]) {
  const testing = await Test.createTestingModule({ imports, providers }).compile();
  return testing.init();
}

describe('Two modules in one application', () => {
  describe.each([
    ['the library first', true],
    ['the application first', false],
  ])('%s', (_, libraryFirst) => {
    it.each([
      ['without a name', inMemory(), UNNAMED],
      ['of which one gives the name that is the default', inMemory({ name: 'default' }), UNNAMED],
      ['of which one is not global', inMemory({ isGlobal: false }), UNNAMED],
      [
        'of which one has its options later',
        DistributedLockModule.forRootAsync({
          useFactory: () => ({ store: new MemoryLockStore() }),
        }),
        UNNAMED,
      ],
      ['of which one is switched off', inMemory({ enabled: false, store: undefined }), UNNAMED],
    ])('%s: refused', async (__, ofLibrary, message) => {
      const app = appWith(inMemory(), ofLibrary, libraryFirst);
      await expect(start([app])).rejects.toThrow(message);
    });

    it('with one name: refused', async () => {
      const named = () => inMemory({ name: 'billing' });
      const app = appWith(named(), named(), libraryFirst);
      await expect(start([app, inMemory()])).rejects.toThrow(/has 2 of them with the name "billing", /); // prettier-ignore
    });

    it('with names that differ: each locks in its own store', async () => {
      const [store, another] = [new MemoryLockStore(), new MemoryLockStore()];
      const app = appWith(inMemory({ store }), inMemory({ store: another, name: 'library' }), libraryFirst); // prettier-ignore
      const running = await start([app]);
      const { locks } = running.get(Payments);
      await locks.acquire('a');
      await running.get<LockService>(getLocksToken('library')).acquire('b');
      expect([await store.inspect('a'), await another.inspect('b')]).toEqual([
        expect.objectContaining({ key: 'a' }),
        expect.objectContaining({ key: 'b' }),
      ]);
      await running.close();
    });
  });

  it('are refused with decorated methods, too, and in the hands of a test', async () => {
    const app = appWith(inMemory(), inMemory(), true);
    await expect(start([app], [Decorated] as never)).rejects.toThrow(UNNAMED);
    await expect(start([app, LockTestingModule.forRoot()])).rejects.toThrow(UNNAMED);
  });

  it('are refused before either connects to anything', async () => {
    const redis = jest.fn<never, []>(() => {
      throw new Error('was asked for a client');
    });
    const options: DistributedLockModuleOptions = { redis };
    const app = appWith(
      DistributedLockModule.forRoot(options),
      DistributedLockModule.forRootAsync({ useFactory: () => options }),
      true,
    );
    await expect(start([app])).rejects.toThrow(UNNAMED);
    expect(redis).not.toHaveBeenCalled();
  });

  it('are one where two modules import the same', async () => {
    const locks = inMemory();
    const running = await start([appWith(locks, locks, true)]);
    const { locks: service } = running.get(Payments);
    expect(service).toBe(running.get(LockService));
    await running.close();
  });

  it('are fine in two applications of one process', async () => {
    const [one, other] = [await start([inMemory()]), await start([inMemory()])];
    expect(one.get(LockService)).not.toBe(other.get(LockService));
    await Promise.all([one.close(), other.close()]);
  });
});
