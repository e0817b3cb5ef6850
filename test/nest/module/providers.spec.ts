import { Controller, Get, Inject, Injectable, Param, Scope } from '@nestjs/common';
import { ModuleRef, REQUEST } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import {
  DistributedLock,
  DistributedLockModule,
  LockService,
  MemoryLockStore,
} from 'nest-holdfast';
import { ADAPTERS, startApp, startServices, type TestApp } from '../support/test-app.js';

const SYMBOL = Symbol('work');

abstract class Base {
  @DistributedLock('base:<x>', { reentrant: true })
  async run(x: string) {
    return `base ${x}`;
  }
}

@Injectable()
class Child extends Base {
  @Inject('GREETING') readonly greeting!: string;

  @DistributedLock('child:<y>')
  async greet(y: string) {
    return `${this.greeting} ${y}`;
  }

  @DistributedLock('symbol:<z>')
  async [SYMBOL](z: string) {
    return z;
  }
}

@Injectable()
class Overriding extends Base {
  @DistributedLock('base:<y>')
  override async run(y: string) {
    return `over ${await super.run(y)}`;
  }
}

@Injectable()
class OverridingWithoutLock extends Base {
  override async run(x: string) {
    return `over ${await super.run(x)}`;
  }
}

@Injectable({ scope: Scope.REQUEST })
class PerRequest {
  constructor(@Inject(REQUEST) private readonly request: { url: string }) {}

  @DistributedLock('request:<key>')
  async go(key: string) {
    return this.request.url + key;
  }
}

@Injectable({ scope: Scope.TRANSIENT })
class PerUse {
  @DistributedLock('use:<key>')
  async go(key: string) {
    return key;
  }
}

@Controller('scoped')
class ScopedController {
  constructor(
    private readonly perRequest: PerRequest,
    private readonly perUse: PerUse,
  ) {}

  @Get(':id')
  @DistributedLock('handler:<request.params.id>')
  async get(@Param('id') id: string) {
    return { url: await this.perRequest.go(id), use: await this.perUse.go(id) };
  }
}

class Plain {
  constructor(readonly n: number) {}

  @DistributedLock('plain:<key>')
  async go(key: string) {
    return key + this.n;
  }
}

const providers = [
  { provide: 'GREETING', useValue: 'hello' },
  Child,
  Overriding,
  OverridingWithoutLock,
  PerRequest,
  PerUse,
  { provide: 'VALUE', useValue: new Plain(1) },
  { provide: 'FACTORY', useFactory: async () => new Plain(2) },
  { provide: 'ALIAS', useExisting: 'FACTORY' },
  { provide: 'PER_USE_FACTORY', scope: Scope.TRANSIENT, useFactory: () => new Plain(3) },
];

describe('the instance that a decorated method belongs to', () => {
  let app: TestApp;

  beforeAll(async () => {
    app = await startServices(providers);
  });
  afterAll(() => app[Symbol.asyncDispose]());
  beforeEach(() => app.takeLog());

  it('may inherit the method', async () => {
    expect(await app.get(Child).run('1')).toBe('base 1');
    expect(await app.get(Child).greet('2')).toBe('hello 2');
    expect(app.log).toEqual(['+base:1', '-base:1', '+child:2', '-child:2']);
  });

  it('may name the method by a symbol', async () => {
    expect(await app.get(Child)[SYMBOL]('3')).toBe('3');
    expect(app.log).toEqual(['+symbol:3', '-symbol:3']);
  });

  it('may override the method and call the inherited one: the lock is re-entered', async () => {
    expect(await app.get(Overriding).run('1')).toBe('over base 1');
    expect(await app.get(OverridingWithoutLock).run('2')).toBe('over base 2');
    expect(app.log).toEqual(['+base:1', '-base:1', '+base:2', '-base:2']);
  });

  it('may be transient', async () => {
    const first = await app.app.resolve(PerUse);
    const second = await app.app.resolve(PerUse);
    expect(first).not.toBe(second);
    expect([await first.go('a'), await second.go('b')]).toEqual(['a', 'b']);
    expect(app.log).toHaveLength(4);
  });

  it('may be made by ModuleRef.create', async () => {
    const made = await app.app.get(ModuleRef).create(PerUse);
    await made.go('1');
    expect(app.log).toEqual(['+use:1', '-use:1']);
  });

  it.each(['VALUE', 'FACTORY', 'ALIAS'])('may be handed to Nest ready-made: %s', async (token) => {
    await app.app.get<Plain>(token).go('a');
    expect(app.log).toEqual(['+plain:a', '-plain:a']);
  });

  it('may not lock by guesswork: without Nest there is no service, and the call says what to do', async () => {
    const message = /@DistributedLock on Plain.go: .* has no LockService: Nest did not make it/;
    await expect(new Plain(9).go('a')).rejects.toThrow(message);
    const perUse = await app.app.resolve<Plain>('PER_USE_FACTORY');
    await expect(perUse.go('a')).rejects.toThrow(message);
    expect(app.log).toEqual([]);
  });

  it('looks as if nothing had been done to it', () => {
    const child = app.get(Child);
    expect(Object.keys(child)).toEqual(['greeting']);
    expect(JSON.stringify(child)).toBe('{"greeting":"hello"}');
    expect(child).toEqual(Object.assign(new Child(), { greeting: 'hello' }));
  });

  it('may stand in for another one in a test', async () => {
    const testing = await Test.createTestingModule({
      imports: [DistributedLockModule.forRoot({ store: new MemoryLockStore() })],
      providers: [Child, { provide: 'GREETING', useValue: 'hello' }],
    })
      .overrideProvider(Child)
      .useValue(Object.assign(new Child(), { greeting: 'mocked' }))
      .compile();
    await testing.init();
    expect(await testing.get(Child).greet('x')).toBe('mocked x');
    await testing.close();
  });

  it('needs no module where a test provides the service itself', async () => {
    const locks = new LockService(new MemoryLockStore());
    const testing = await Test.createTestingModule({
      providers: [PerUse, { provide: LockService, useValue: locks }],
    }).compile();
    expect(await (await testing.resolve(PerUse)).go('x')).toBe('x');
  });

  it('may be handed to one application after another', async () => {
    const shared = new Plain(4);
    for (const key of ['a', 'b']) {
      await using next = await startServices([{ provide: 'SHARED', useValue: shared }]);
      await shared.go(key);
      expect(next.log).toEqual([`+plain:${key}`, `-plain:${key}`]);
    }
  });
});

describe.each(ADAPTERS)('request scope, on %s', (adapter) => {
  it('locks with the service of the application', async () => {
    await using app = await startApp({ adapter, providers, controllers: [ScopedController] });
    const { body } = await app.http.get('/scoped/5').expect(200);
    expect(body).toEqual({ url: '/scoped/55', use: '5' });
    expect(app.log).toEqual([
      '+handler:5',
      '+request:5',
      '-request:5',
      '+use:5',
      '-use:5',
      '-handler:5',
    ]);
  });
});
