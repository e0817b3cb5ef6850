import { DistributedLock } from 'nest-holdfast';
import { refusal, Untyped } from '../support/refusal.js';

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
    ['an empty template', '', /^@DistributedLock on Orders\.pay: .* is empty/],
    ['adjacent placeholders', '<id><amount>', /needs a separator between two placeholders/],
    ['a separator that values may contain', '<id>x<amount>', /needs a separator/],
    [
      'an unknown filter',
      '<id:upper>',
      /unknown filter ":upper"; known: :lower, :trim, :nfc, :int, :uuid/,
    ],
    ['a placeholder without a name', 'order:<>', /placeholder without a name/],
    ['a path that ends in a dot', 'order:<id.>', /placeholder without a name/],
    ['half a placeholder', 'order:<id', /"<" or ">" without its partner/],
    ['of JavaScript', 'order:${id}', /Orders\.pay: .* contains "\$\{": .* Write <id>$/],
    [
      'in braces',
      'order:{id}',
      /Orders\.pay: \{id\} in "order:\{id\}" is no placeholder.* Write <id>/,
    ],
    [
      'in braces, with a path',
      '{id.x}',
      /\{id\.x\} in .* though id is a parameter\. Write <id\.x>/,
    ],
    ['in braces, in a list', ['a', 'order:{id}'], /\{id\} in "order:\{id\}"/],
    ['in braces, beside another', 'a:{id}:<amount>', /\{id\} in .* Write <id>/],
    ['that of a route', 'order/:id', /:id in "order\/:id" is no placeholder.* Write <id>/],
    ['that of a route, with colons', 'order::id', /:id in "order::id" is no placeholder/],
    ['that of a route, alone', ':id', /:id in ":id" is no placeholder/],
    ['that of Spring', 'order:#id', /: #id in "order:#id" is no placeholder.* Write <id>/],
    ['that of Spring, with a path', 'order:#id.x', /: #id\.x in .* Write <id\.x>/],
    ['that of Spring, in braces', 'order:#{#id}', /: #id in .* Write <id>/],
    ['that of a shell', 'order:$id', /: \$id in "order:\$id" is no placeholder.* Write <id>/],
    ['a bare path', 'order:id.x', /: id\.x in "order:id\.x" is no placeholder.* Write <id\.x>/],
    ['a bare path, alone', 'id.x', /: id\.x in "id\.x" is no placeholder/],
    ['a position in braces', 'order:{0}', /: \{0\} in "order:\{0\}" is no placeholder.* Write <0>/],
    [
      'that of a request, bare',
      'order:request.params.id',
      /: request\.params\.id in .*the request of a handler\. Write <request\.params\.id>/,
    ],
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
    ['ttl', { ttl: 0 }, /^@DistributedLock on Orders\.pay: ttl must be .* got 0/],
    [
      'waitTimeout',
      { waitTimeout: '5s' },
      /^@DistributedLock on Orders\.pay: waitTimeout must be .* "5s"/,
    ],
    ['autoExtend', { autoExtend: 1 }, /Orders\.pay: autoExtend must be a boolean/],
    ['minHold beyond maxHold', { minHold: 20, maxHold: 10 }, /Orders\.pay: minHold .* maxHold/],
    ['an unknown one', { tll: 5 }, /Orders\.pay: unknown option "tll" \(did you mean ttl\?\)/],
    [
      'one of the decorator itself, misspelt',
      { onTimout: 'skip' },
      /Orders\.pay: unknown option "onTimout" \(did you mean onTimeout\?\); .*mode, name, onTimeout, before, returns, locks$/,
    ],
    ['a number', 5_000 as never, /Orders\.pay: the options must be an object, .* got 5000$/],
    ['null', null as never, /Orders\.pay: the options must be an object, .* got null$/],
    [
      'onTimeout',
      { onTimeout: 'ignore' },
      /Orders\.pay: onTimeout must be 'throw', 'skip' or a function/,
    ],
    [
      'before',
      { before: 'guards' },
      /Orders\.pay: before must be 'pipes', got the string "guards"/,
    ],
    ['returns', { returns: 'string' }, /returns must be 'promise', 'observable' or 'iterable'/],
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
    expect(error.message).toContain(
      "write the position of the parameter, <0> for the first or <1.orderId> for the destructured one, mark it with @LockKey('orderId')",
    );
    expect(error.message).toContain('<request.params.orderId>');
  });

  it.each([
    ['order:id', 'a name behind one colon'],
    ['order:{x}', 'braces around what is no parameter'],
    ['order:#x', 'a sign before what is no parameter'],
    ['order:$x:v1.2', 'a dollar before what is no parameter'],
    ['id.paid:<id>', 'a path of a name that is a placeholder, too'],
    ['order:id', 'a name behind one colon'],
    ['order/:x', 'a route of something else'],
    ['{id}:<id>', 'a hash tag beside the parameter itself'],
    ['{order:<id>}', 'a hash tag around a placeholder'],
    ['user:id:<id:lower>', 'a name before its value'],
  ])('but not %j: %s', (key) => {
    class Orders {
      @Untyped(key) async pay(id: string, amount: number) {
        return [id, amount];
      }
    }
    expect(Orders).toBeDefined();
  });

  it.each([
    ['param.id', 'request.params.id', '0.id'],
    ['params.id', 'request.params.id', '0.id'],
    ['req.params.id', 'request.params.id', '0.params.id'],
    ['req.body.order.id', 'request.body.order.id', '0.body.order.id'],
    ['query.q', 'request.query.q', '0.q'],
    ['user.id', 'request.user.id', '0.id'],
    ['body', 'request.params.body', '0'],
  ])('<%s>, and tells that it may have meant <%s>', (path, meant, position) => {
    const error = refusal(() => {
      class Orders {
        @Untyped(`order:<${path}>`) async pay(id: string) {
          return id;
        }
      }
      return Orders;
    });
    expect(error.message).toContain(
      `the position of the parameter, <${position}> for the first, mark`,
    );
    expect(error.message).toMatch(new RegExp(`The request is read by <${meant}>$`));
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
    expect(error.message).toContain('write the position of the parameter, <0.id>, mark');
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
