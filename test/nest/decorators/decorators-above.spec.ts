import { Controller, Get, Param, Req } from '@nestjs/common';
import { DistributedLock } from 'nest-holdfast';
import { startApp, type TestApp } from '../support/test-app.js';

/** A decorator that puts a function of its own in place of the method. */
function Timed({ keepsMetadata }: { keepsMetadata: boolean }): MethodDecorator {
  return (_target, _property, descriptor) => {
    const method = descriptor.value as unknown as (...args: unknown[]) => unknown;
    const timed = function (this: unknown, ...args: unknown[]) {
      return method.apply(this, args);
    };
    for (const key of keepsMetadata ? Reflect.getMetadataKeys(method) : []) {
      Reflect.defineMetadata(key, Reflect.getMetadata(key, method), timed);
    }
    descriptor.value = timed as never;
  };
}

const Careful = Timed({ keepsMetadata: true });
const Careless = Timed({ keepsMetadata: false });

@Controller()
class Handlers {
  @Careful
  @DistributedLock('order:<request.params.id>')
  @Get('careful/:id')
  async careful() {
    return 'ran';
  }

  @Careful
  @DistributedLock('order:<request.params.id>', { before: 'pipes' })
  @Get('careful-before/:id')
  async carefulBefore() {
    return 'ran';
  }

  @Get('argument/:id')
  @Careless
  @DistributedLock('order:<id>')
  async argument(@Param('id') id: string) {
    return `ran ${id}`;
  }

  @Get('careless/:id')
  @Careless
  @DistributedLock('order:<request.params.id>')
  async careless() {
    return 'ran';
  }

  @Get('careless-before/:id')
  @Careless
  @DistributedLock('order:<request.params.id>', { before: 'pipes' })
  async carelessBefore(@Req() _request: unknown) {
    return 'ran';
  }
}

describe('a decorator above @DistributedLock that replaces the method', () => {
  let app: TestApp;

  beforeAll(async () => {
    app = await startApp({ controllers: [Handlers] });
  });
  afterAll(() => app[Symbol.asyncDispose]());
  beforeEach(() => app.takeLog());

  it.each(['careful', 'careful-before'])('does no harm if it keeps metadata: %s', async (path) => {
    await app.http.get(`/${path}/7`).expect(200, 'ran');
    expect(app.log).toEqual(['+order:7', '-order:7']);
  });

  it('does no harm to keys that are made of arguments', async () => {
    await app.http.get('/argument/7').expect(200, 'ran 7');
    expect(app.log).toEqual(['+order:7', '-order:7']);
  });

  it.each(['careless', 'careless-before'])(
    'is refused if it loses metadata that the lock needs: %s',
    async (path) => {
      await app.http.get(`/${path}/7`).expect(500);
      expect(app.log).toEqual([]);
    },
  );
});
