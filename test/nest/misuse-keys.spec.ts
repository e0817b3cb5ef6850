import { DistributedLock } from 'nest-holdfast';
import { refusal, Untyped } from './support/refusal.js';

/** A decorator that hides the method behind a function of its own, as many do. */
const Hiding: MethodDecorator = (_target, _property, descriptor) => {
  const method = descriptor.value as (...args: unknown[]) => unknown;
  descriptor.value = function (this: unknown, ...all: unknown[]) {
    return method.apply(this, all);
  } as never;
};

describe('@DistributedLock refuses, when the class is defined,', () => {
  it.each<[string, unknown, RegExp]>([
    ['nothing', undefined, /Orders\.pay: the key must be a template/],
    ['a number', 7, /the key must be a template/],
    ['an empty list', [], /list of templates that is not empty/],
    ['a list with something else in it', ['a', 7], /the key must be a template/],
    ['an empty template', '', /is empty/],
    ['adjacent placeholders', '<id><amount>', /needs a separator between two placeholders/],
    ['a separator that values may contain', '<id>x<amount>', /needs a separator/],
    ['an unknown filter', '<id:upper>', /unknown filter ":upper"; known: :lower, :trim, :int/],
    ['a placeholder without a name', 'order:<>', /placeholder without a name/],
    ['a path that ends in a dot', 'order:<id.>', /placeholder without a name/],
    ['half a placeholder', 'order:<id', /"<" or ">" without its partner/],
    ['a position beyond the parameters', 'order:<2>', /<2> .* names no parameter/],
  ])('a key that is %s', (_what, key, message) => {
    const error = refusal(() => {
      class Orders {
        @Untyped(key) async pay(id: string, amount: number) {
          return [id, amount];
        }
      }
      return Orders;
    });
    expect(error).toBeInstanceOf(TypeError);
    expect(error.message).toMatch(message);
  });

  it.each<[string, object, RegExp]>([
    ['ttl', { ttl: 0 }, /^ttl must be .* got 0/],
    ['waitTimeout', { waitTimeout: '5s' }, /^waitTimeout must be .* "5s"/],
    ['autoExtend', { autoExtend: 1 }, /^autoExtend must be a boolean/],
    ['minHold beyond maxHold', { minHold: 20, maxHold: 10 }, /minHold .* maxHold/],
    ['an unknown one', { tll: 5 }, /unknown lock option "tll"/],
    ['onTimeout', { onTimeout: 'ignore' }, /Orders\.pay: onTimeout must be 'throw' or 'skip'/],
    ['before', { before: 'guards' }, /Orders\.pay: before must be 'pipes', got guards/],
    ['returns', { returns: 'string' }, /returns must be 'promise' or 'observable' or 'iterable'/],
  ])('a bad option: %s', (_what, options, message) => {
    const error = refusal(() => {
      class Orders {
        @Untyped('order', options) async pay() {}
      }
      return Orders;
    });
    expect(error.message).toMatch(message);
  });

  it('a name that is not a parameter, and tells the signature and what to write', () => {
    const error = refusal(() => {
      class Orders {
        @DistributedLock('order:<orderId>')
        async pay(id: string, { amount }: { amount: number }, tip = 0) {
          return [id, amount, tip];
        }
      }
      return Orders;
    });
    expect(error.message).toContain(
      '@DistributedLock on Orders.pay: <orderId> in "order:<orderId>" names no parameter (found pay(id, { amount }, tip = 0))',
    );
    expect(error.message).toContain("<0.orderId>, mark it with @LockKey('orderId')");
    expect(error.message).toContain('<request.params.orderId>');
  });

  it('a name inside a destructured parameter', () => {
    const error = refusal(() => {
      class Orders {
        @DistributedLock('order:<id>') async pay({ id }: { id: string }) {
          return id;
        }
      }
      return Orders;
    });
    expect(error.message).toContain('write its position, <0.id>');
  });

  it('a name that a decorator below hides, and finds it by position', () => {
    const error = refusal(() => {
      class Orders {
        @DistributedLock('order:<id>') @Hiding async pay(id: string) {
          return id;
        }
      }
      return Orders;
    });
    expect(error.message).toMatch(
      /names no parameter \(found .*\(\.\.\.all\)\).*hidden by another/,
    );

    class Accepted {
      @DistributedLock('order:<0>') @Hiding async pay(id: string) {
        return id;
      }
    }
    expect(Accepted).toBeDefined();
  });

  it("what the arguments would have to tell, with before: 'pipes'", () => {
    for (const key of ['order:<id>', 'order:<0>', () => 'order']) {
      const error = refusal(() => {
        class Orders {
          @Untyped(key, { before: 'pipes' }) async pay(id: string) {
            return id;
          }
        }
        return Orders;
      });
      expect(error.message).toMatch(/its key may only read <request\.…>, found/);
    }
  });
});
