import { runInThisContext } from 'node:vm';
import { Body, Controller, Post, Req } from '@nestjs/common';
import { DistributedLock, LockKey, OncePerTick, OnElected, Semaphore } from 'nest-holdfast';
import { of } from 'rxjs';
import { refusal, Untyped } from '../support/refusal.js';
import { startApp, startServices } from '../support/test-app.js';

/** Locks a method with this source, which is what a build has made of it. */
function lockAs(source: string, key: unknown, options?: object): void {
  // As the build emits it, untouched by our compiler.
  const value = Object.values(runInThisContext(`({ ${source} })`) as object)[0] as Function;
  const descriptor = { value, configurable: true, writable: true };
  Untyped(key, options)(class Orders {}.prototype, 'pay', descriptor as never);
}

function refused(source: string, key: unknown, options?: object): string {
  const error = refusal(() => lockAs(source, key, options));
  expect(error).toBeInstanceOf(TypeError);
  return error.message;
}

describe('request is the request of a handler, and no parameter:', () => {
  it.each([
    ['async pay(request) {}', 'order:<request.id>', '<0.id>'],
    ['async pay(request) {}', 'order:<request>', '<0>'],
    ['async pay(request) {}', 'order:<request.params.id>', '<0.params.id>'],
    ['async pay(request) {}', ['order', 'order:<request.id>'], '<0.id>'],
    ['async pay(id, request) {}', 'order:<id>:<request.id>', '<1.id>'],
    ['async pay(request = {}) {}', 'order:<request.id>', '<0.id>'],
    ['async pay(request2) {}', 'order:<request.id>', '<0.id>'],
    ['async pay(request$1) {}', 'order:<request.body.id>', '<0.body.id>'],
  ])('%s is refused for %j, with %s', (source, key, position) => {
    const message = refused(source, key);
    expect(message).toMatch(/reads the request of a handler, and never a parameter \(found pay\(/);
    expect(message).toContain(`Write the position of the parameter, ${position}, or mark it with`);
    expect(message).toContain("@LockKey('data')");
  });

  it("it is refused also with before: 'pipes', where the key reads the request only", () => {
    const message = refused('async pay(request) {}', 'a:<request.id>', { before: 'pipes' });
    expect(message).toContain('To read the request, rename the parameter');
  });

  it('a mark is refused', () => {
    expect(refusal(() => LockKey('request')).message).toBe(
      "@LockKey('request'): <request.…> reads the request of a handler; mark the parameter with another name",
    );
  });

  it('a parameter may be called so where no key reads the request', () => {
    lockAs('async pay(id, request) {}', 'order:<id>');
    lockAs('async pay(request) {}', 'order:<0.id>');
    lockAs('async pay(request) {}', ({ id }: { id: string }) => id);
  });

  describe.each([
    ['minified', 'async pay(e){}'],
    ['partly minified', 'async pay(dto, t) {}'],
    ['of an older target', 'pay(_0) { return run(this, arguments, function* ({ id }) {}) }'],
    ['hidden by a decorator', 'pay: function (...args) { return pay.apply(this, args) }'],
    ['hidden by an older one', 'pay: function () { return pay.apply(this, arguments) }'],
    ['not to be read', 'pay: (() => {}).bind(null)'],
  ])('where names are %s: %s', (_, source) => {
    it.each(['', '.id', '.url', '.order.id'])('<request%s> may be a parameter', (path) => {
      const message = refused(source, `order:<request${path}>`);
      expect(message).toMatch(/may mean a parameter that is called request in the source/);
      expect(message).toContain(`<0${path}>, or mark it with @LockKey('data')`);
      expect(message).toContain(`mark @Req() with @LockKey('req') and write <req${path}>`);
    });

    it('parts of a request are read', () => {
      for (const part of ['params', 'body', 'query', 'headers', 'user', 'args', 'data']) {
        lockAs(source, `order:<request.${part}.id>`);
      }
      lockAs(source, 'order:<request.id>', { before: 'pipes' });
    });
  });

  it.each([
    'async pay() {}',
    'async pay(id) {}',
    'async pay(id, _) {}',
    'async pay({ id: e }) {}',
    'async pay(dto, ...notes) {}',
  ])('any part of it is read beside %s', (source) => {
    lockAs(source, 'order:<request.id>:<request.url>');
  });

  it('is read from a marked @Req() in every build', async () => {
    @Controller()
    class Orders {
      @Post()
      @DistributedLock('order:<req.method>:<dto.id>')
      async pay(@LockKey('dto') @Body() request: { id: string }, @LockKey('req') @Req() r: object) {
        return { id: request.id, hasRequest: 'method' in r };
      }
    }
    await using app = await startApp({ controllers: [Orders] });
    await app.http.post('/').send({ id: '7' }).expect(201, { id: '7', hasRequest: true });
    expect(app.log).toEqual(['+order:POST:7', '-order:POST:7']);
  });
});

describe('a name that a build may give to another parameter is refused:', () => {
  it.each([
    ['e', 'async handle(tenant, e) {}', /names of one letter/],
    ['$', 'async handle(tenant, $) {}', /names of one letter/],
    ['_1', 'handle(_0, _1) { return run(this, arguments, function* () {}) }', /of one letter/],
    ['e', 'async handle(e,t){}', /names of one letter/],
    ['id', 'async handle(e,id){}', /names are minified here/],
    ['id', 'async handle({a:e},id,t){}', /names are minified here/],
    ['id2', 'async handle(id, id2) {}', /and id differs by a number/],
    ['id2', 'async handle(id2, id22) {}', /and id22 differs by a number/], // as esbuild renames it
    ['id$1', 'async handle(id$1, id) {}', /and id differs by a number/],
    ['id', 'async handle(id, id2) {}', /and id2 differs by a number/],
  ])('<%s> in %s', (name, source, why) => {
    const message = refused(source, `event:<${name}>`);
    expect(message).toMatch(why);
    expect(message).toContain(`<${name}> in "event:<${name}>" may name another parameter`);
    expect(message).toContain(`such as <0>, mark it with @LockKey('${name}')`);
  });

  it.each([
    ['x', 'async handle(x) {}'],
    ['id', 'async handle(id) {}'],
    ['id', 'async handle(id, n) {}'],
    ['id', 'async handle(id,{a:e}){}'],
    ['to', 'async handle(from, to) {}'],
    ['to', 'async handle(from,to){}'],
    ['名', 'async handle(名, 前) {}'],
    ['line2', 'async handle(line1, line2) {}'],
    ['sha256', 'async handle(sha1, sha256) {}'],
    ['1', 'async handle(e,t){}'],
  ])('but not <%s> in %s', (name, source) => {
    lockAs(source, `event:<${name}>`);
  });

  it('and what @LockKey marks may have any name', () => {
    class Events {
      @DistributedLock('event:<e>:<id>')
      async handle(@LockKey('id') e: string, @LockKey('e') t: string) {
        return e + t;
      }
    }
    expect(Events).toBeDefined();
  });
});

describe('the advice for a name that a build has lost', () => {
  it.each([
    ['async pay(e,t){}', '<0> for the first, mark'],
    ['async pay({id:e}){}', '<0.orderId>, mark'],
    ['async pay(e,{id:t}){}', '<0> for the first or <1.orderId> for the destructured one, mark'],
    [
      'pay(_0) { return run(this, arguments) }',
      '<0> for the first or <0.orderId> if that is destructured in the source, mark',
    ],
    [
      'pay: function (...args) {}',
      '<0> for the first or <0.orderId> if that is destructured in the source, mark',
    ],
  ])('%s: %s', (source, advice) => {
    const message = refused(source, 'order:<orderId>');
    expect(message).toContain(`write the position of the parameter, ${advice}`);
  });
});

describe('a build that has decorators as ECMAScript does is told what Nest needs:', () => {
  const pay = async () => undefined;
  const context = { kind: 'method', name: 'pay', static: false, private: false };

  it.each<[string, (...args: never[]) => unknown]>([
    ['@DistributedLock', DistributedLock('order')],
    ['@Semaphore', Semaphore('order', { permits: 2 })],
    ['@OncePerTick', OncePerTick('nightly')],
    ['@OnElected', OnElected('leader')],
  ])('%s', (name, decorator) => {
    const error = refusal(() => decorator(pay as never, context as never));
    expect(error).toBeInstanceOf(TypeError);
    expect(error.message).toMatch(
      new RegExp(`^${name}: .* set experimentalDecorators and emitDecoratorMetadata`),
    );
  });
});

describe('an Observable that nothing announced', () => {
  async function refusedAtCall(hasMetadata: boolean): Promise<string> {
    class Own {
      declare promised: () => Promise<unknown>;
    }
    const descriptor = { value: async () => of(1), configurable: true, writable: true };
    if (hasMetadata)
      Reflect.defineMetadata('design:returntype', Promise, Own.prototype, 'promised');
    Untyped('price')(Own.prototype, 'promised', descriptor);
    Object.defineProperty(Own.prototype, 'promised', descriptor);
    await using app = await startServices([Own]);
    return app
      .get(Own)
      .promised()
      .then(() => 'accepted', String);
  }

  it('is to be annotated where the build tells annotations', async () => {
    expect(await refusedAtCall(true)).toContain('annotate its return type as Observable<…>');
  });

  it("is to have returns: 'observable' where it does not", async () => {
    const message = await refusedAtCall(false);
    expect(message).toContain("set returns: 'observable', for this build leaves nothing");
    expect(message).not.toContain('annotate its');
  });
});
