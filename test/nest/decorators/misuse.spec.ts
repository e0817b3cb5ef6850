import { CurrentLock, DistributedLock, LockKey } from 'nest-holdfast';
import { refusal, Untyped } from '../support/refusal.js';
import { startServices } from '../support/test-app.js';

describe('@DistributedLock refuses, when the class is defined,', () => {
  it.each<[string, RegExp, () => unknown]>([
    [
      'a static method',
      /Orders\.pay: a static method has no instance/,
      () => {
        class Orders {
          @Untyped('order') static async pay() {}
        }
        return Orders;
      },
    ],
    [
      'an accessor',
      /Orders\.pay: only methods/,
      () => {
        class Orders {
          @Untyped('order') get pay() {
            return Promise.resolve();
          }
        }
        return Orders;
      },
    ],
    [
      'a property',
      /Orders\.pay: only methods/,
      () => {
        class Orders {
          @Untyped('order') pay = async () => {};
        }
        return Orders;
      },
    ],
    [
      'a synchronous generator',
      /must return a Promise, an Observable or an async iterable/,
      () => {
        class Orders {
          @Untyped('order') *pay() {
            yield 1;
          }
        }
        return Orders;
      },
    ],
    [
      'a method annotated to return a plain value',
      /must return a Promise, an Observable or an async iterable/,
      () => {
        class Orders {
          @Untyped('order') pay(): string {
            return '';
          }
        }
        return Orders;
      },
    ],
    [
      'a second lock on the same method',
      /Orders\.pay: the method is locked already; give several keys as a list/,
      () => {
        class Orders {
          @DistributedLock('a') @DistributedLock('b') async pay() {}
        }
        return Orders;
      },
    ],
    [
      '@LockKey on a constructor parameter',
      /@LockKey\(\) belongs on a parameter of a method/,
      () => {
        class Orders {
          constructor(@LockKey('id') readonly id: string) {}
        }
        return Orders;
      },
    ],
    [
      '@CurrentLock on a constructor parameter',
      /@CurrentLock\(\) belongs on a parameter of a method/,
      () => {
        class Orders {
          constructor(@CurrentLock() readonly id: string) {}
        }
        return Orders;
      },
    ],
    [
      'one @LockKey on two parameters',
      /@LockKey\('id'\) marks two parameters/,
      () => {
        class Orders {
          @DistributedLock('order:<id>')
          async pay(@LockKey('id') a: string, @LockKey('id') b: string) {
            return a + b;
          }
        }
        return Orders;
      },
    ],
  ])('%s', (_what, message, define) => {
    const error = refusal(define);
    expect(error).toBeInstanceOf(TypeError);
    expect(error.message).toMatch(message);
  });
});

it.each(['', 'a b', 'a.b', 'a:b', '<a>', undefined])('@LockKey refuses the name %j', (name) => {
  expect(() => LockKey(name as string)).toThrow(/@LockKey expects a name/);
});

it('a method that is called without its instance says so', async () => {
  class Orders {
    @DistributedLock('order:<id>') async pay(id: string) {
      return id;
    }
  }
  await using app = await startServices([Orders]);
  // eslint-disable-next-line typescript/unbound-method -- the mistake that this is about
  const { pay } = app.get(Orders);
  await expect(pay('1')).rejects.toThrow(
    '@DistributedLock on Orders.pay was called without its instance: call it as instance.method()',
  );
  expect(app.log).toEqual([]);
});
