import { Injectable, SetMetadata } from '@nestjs/common';
import { Cron } from '@nestjs/schedule';
import { Test } from '@nestjs/testing';
import { DistributedLockModule, LockService, MemoryLockStore } from 'nest-holdfast';
import { of } from 'rxjs';
import { oncePerTick } from 'nest-holdfast/core';
import { OncePerTick } from 'nest-holdfast';
import { refusal } from '../support/refusal.js';
import { startServices } from '../support/test-app.js';

/** As plain JavaScript sees it, without the help of types. */
const Untyped = OncePerTick as unknown as (
  name: unknown,
  options?: unknown,
) => MethodDecorator & PropertyDecorator;

describe('@OncePerTick refuses, when the class is defined,', () => {
  it.each<[string, unknown, unknown, RegExp]>([
    ['a name that is none', '', {}, /the name of a tick must be a string that is not empty/],
    [
      'a name that is no string',
      7,
      {},
      /^@OncePerTick on Jobs\.run: the name of a tick must be a string .*got 7/,
    ],
    ['an unknown option', 'x', { waitTimeout: 5 }, /Jobs\.run: unknown option "waitTimeout"/],
    ['a misspelt option', 'x', { evry: 5 }, /"evry" \(did you mean every\?\); known options are/],
    ['no options', 'x', 60_000, /Jobs\.run: the options must be an object, .* got 60000/],
    [
      'a placeholder',
      'x:<id>',
      {},
      /^@OncePerTick on Jobs\.run: the name of a tick has no placeholders, got "x:<id>"/,
    ],
    [
      'a tolerance below 0',
      'x',
      { tolerance: -1 },
      /tolerance must be a whole number of ms from 0/,
    ],
    ['a tolerance of days', 'x', { tolerance: 86_400_001 }, /to 86400000, got 86400001/],
    ['no cron expression', 'x', { every: 'daily' }, /not a cron expression: "daily"/],
    ['no interval', 'x', { every: 0 }, /the interval of a tick must be .* from 1 .*got 0/],
    ['neither', 'x', { every: {} }, /every must be a number of ms or a cron expression/],
    ['an unknown zone', 'x', { every: '* * * * *', timeZone: 'Mars' }, /Mars/],
    ['a zone for nothing', 'x', { timeZone: 'UTC' }, /Jobs\.run: a time zone belongs to @Cron/],
  ])('%s', (_, name, options, message) => {
    const error = refusal(() => {
      class Jobs {
        @Untyped(name, options) async run() {}
      }
      return Jobs;
    });
    expect(error.message).toMatch(message);
  });

  it.each<[string, RegExp, () => unknown]>([
    [
      'a static method',
      /^@OncePerTick on Jobs\.run: a static method has no instance/,
      () => {
        class Jobs {
          @Untyped('x') static async run() {}
        }
        return Jobs;
      },
    ],
    [
      'a property',
      /^@OncePerTick on Jobs\.run: only methods/,
      () => {
        class Jobs {
          @Untyped('x') run = async () => {};
        }
        return Jobs;
      },
    ],
    [
      'a stream',
      /^@OncePerTick on Jobs\.run: only a method that returns a promise/,
      () => {
        class Jobs {
          @Untyped('x') async *run() {
            yield of(1);
          }
        }
        return Jobs;
      },
    ],
  ])('%s', (_, message, define) => {
    expect(refusal(define).message).toMatch(message);
  });
});

describe('@OncePerTick', () => {
  @Injectable()
  class Jobs {
    @Cron('0 0 2 * * *')
    @OncePerTick('nightly', { locks: 'billing' })
    async run() {
      return 'ran';
    }
  }

  it('does not let an application start without its locks', async () => {
    const module = DistributedLockModule.forRoot({ store: new MemoryLockStore() });
    const testing = Test.createTestingModule({ imports: [module], providers: [Jobs] });
    await expect(testing.compile()).rejects.toThrow(
      "import DistributedLockModule.forRoot({ name: 'billing' })",
    );
  });

  it('locks in the instance that it names, also for an instance that Nest was handed ready-made', async () => {
    const store = new MemoryLockStore();
    const testing = await Test.createTestingModule({
      imports: [DistributedLockModule.forRoot({ name: 'billing', store })],
      providers: [{ provide: Jobs, useValue: new Jobs() }],
    }).compile();
    await testing.init();
    expect(await testing.get(Jobs).run()).toBe('ran');
    expect(store.held()).toEqual([expect.stringMatching(/^nightly@\d{4}-.*Z$/)]);
    await testing.close();
  });

  it('says so where the method has no instance, or one that was not linked', async () => {
    await expect(new Jobs().run()).rejects.toThrow(/Jobs\.run: this instance has no LockService/);
    const call = Reflect.get(Jobs.prototype, 'run') as () => Promise<unknown>;
    await expect(call()).rejects.toThrow(/was called without its instance/);
  });

  it('keeps name, length and metadata of the method', async () => {
    class Named {
      @OncePerTick('x', { every: 1_000 })
      @SetMetadata('mark', 7)
      async run(a: number, b: number) {
        return a + b;
      }
    }
    const run = Reflect.get(Named.prototype, 'run') as Function;
    expect([run.name, run.length, Reflect.getMetadata('mark', run)]).toEqual(['run', 2, 7]);
    await using app = await startServices([Named]);
    expect(await app.get(Named).run(1, 2)).toBe(3);
  });
});

it('oncePerTick rejects with what is wrong with its options', async () => {
  const locks = new LockService(new MemoryLockStore());
  const call = (options: unknown) => oncePerTick(locks, 'x', options as never, () => 1);
  await expect(call({ every: '61 * * * *' })).rejects.toThrow(TypeError);
  await expect(call({ every: 1_000, tolerance: NaN })).rejects.toThrow(RangeError);
  await expect(call({})).rejects.toThrow(/every must be/);
  await locks.close();
});
