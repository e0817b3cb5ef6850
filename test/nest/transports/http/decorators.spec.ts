import {
  applyDecorators,
  type ArgumentsHost,
  BadRequestException,
  type CallHandler,
  type CanActivate,
  Catch,
  Controller,
  type ExecutionContext,
  Get,
  Header,
  HttpCode,
  Injectable,
  type NestInterceptor,
  NotFoundException,
  Param,
  ParseIntPipe,
  Redirect,
  SetMetadata,
  UseFilters,
  UseGuards,
  UseInterceptors,
  UsePipes,
  ValidationPipe,
  Version,
  VersioningType,
} from '@nestjs/common';
import { BaseExceptionFilter, Reflector } from '@nestjs/core';
import { DistributedLock } from 'nest-holdfast';
import { map } from 'rxjs';
import { ADAPTERS, startApp, type TestApp } from '../../support/test-app.js';

const SYMBOL_KEY = Symbol('own');
const Role = (role: string) => SetMetadata('role', role);
const Own: MethodDecorator = (_target, _property, descriptor) => {
  Object.assign(descriptor.value as object, { [SYMBOL_KEY]: 'kept', tagged: true });
};

@Injectable()
class RoleGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    return this.reflector.get('role', context.getHandler()) === 'admin';
  }
}

@Injectable()
class Wrap implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler) {
    const handler = context.getHandler().name;
    return next.handle().pipe(map((value: unknown) => ({ handler, value })));
  }
}

@Catch(RangeError)
class RangeFilter extends BaseExceptionFilter {
  override catch(error: RangeError, host: ArgumentsHost) {
    // eslint-disable-next-line promise/valid-params -- not that of a promise
    super.catch(new BadRequestException(`filtered ${error.message}`), host);
  }
}

const Everything = applyDecorators(
  Role('admin'),
  UseGuards(RoleGuard),
  UseInterceptors(Wrap),
  UseFilters(RangeFilter),
  UsePipes(new ValidationPipe()),
  HttpCode(202),
  Header('x-kind', 'order'),
);

const THE_ERROR = Object.assign(new Error('of the work'), { code: 'OWN' });

@Controller('orders')
class Orders {
  @DistributedLock('order:<id>')
  @Everything
  @Get('above/:id')
  async above(@Param('id', ParseIntPipe) id: number) {
    if (id === 0) throw new RangeError('zero');
    return id;
  }

  @Everything
  @Get('below/:id')
  @DistributedLock('order:<id>')
  async below(@Param('id', ParseIntPipe) id: number) {
    if (id === 0) throw new RangeError('zero');
    return id;
  }

  @Get('between/:id')
  @DistributedLock('order:<id>')
  @Everything
  async between(@Param('id', ParseIntPipe) id: number) {
    if (id === 0) throw new RangeError('zero');
    return id;
  }

  @Role('user')
  @UseGuards(RoleGuard)
  @DistributedLock('order:<request.params.id>')
  @Get('forbidden/:id')
  async forbidden() {}

  @DistributedLock('order:<id>')
  @Get('missing/:id')
  async missing(@Param('id') id: string) {
    throw new NotFoundException(`order ${id}`);
  }

  @DistributedLock('order:<request.params.id>', { before: 'pipes' })
  @Get('missing-before/:id')
  async missingBefore(@Param('id') id: string) {
    throw new NotFoundException(`order ${id}`);
  }

  @DistributedLock('moved')
  @Redirect('/orders/above/1', 307)
  @Get('moved')
  async moved() {}

  @DistributedLock('versioned')
  @Version('2')
  @Get('versioned')
  async versioned() {
    return 'two';
  }

  @DistributedLock('order:<id>')
  @Own
  async plain(id: string, _amount: number, _note = '') {
    throw Object.assign(THE_ERROR, { id });
  }
}

describe.each(ADAPTERS)('decorators of handlers, on %s', (adapter) => {
  let app: TestApp;

  beforeAll(async () => {
    app = await startApp({
      adapter,
      controllers: [Orders],
      prepare: (each) => each.enableVersioning({ type: VersioningType.HEADER, header: 'x-v' }),
    });
  });
  afterAll(() => app[Symbol.asyncDispose]());
  beforeEach(() => app.takeLog());

  describe.each(['above', 'below', 'between'])('with the lock %s them', (where) => {
    it('keep route, guard, interceptor, status and header', async () => {
      const response = await app.http.get(`/orders/${where}/7`).expect(202);
      expect(response.body).toEqual({ handler: where, value: 7 });
      expect(response.headers['x-kind']).toBe('order');
      expect(app.log).toEqual(['+order:7', '-order:7']);
    });

    it('keep pipes and filters', async () => {
      await app.http.get(`/orders/${where}/x`).expect(400);
      const { body } = await app.http.get(`/orders/${where}/0`).expect(400);
      expect(body.message).toBe('filtered zero');
      expect(app.log).toEqual(['+order:0', '-order:0']);
    });
  });

  it('keep their order: a guard refuses before anything is locked', async () => {
    await app.http.get('/orders/forbidden/7').expect(403);
    expect(app.log).toEqual([]);
  });

  it('keep redirects and versions', async () => {
    await app.http.get('/orders/moved').expect(307).expect('location', '/orders/above/1');
    await app.http.get('/orders/versioned').set('x-v', '2').expect(200, 'two');
    await app.http.get('/orders/versioned').set('x-v', '1').expect(404);
  });

  it.each(['missing', 'missing-before'])('keep errors what they are: %s is a 404', async (path) => {
    const { body } = await app.http.get(`/orders/${path}/7`).expect(404);
    expect(body).toMatchObject({ statusCode: 404, message: 'order 7' });
    expect(app.log).toEqual(['+order:7', '-order:7']);
  });
});

describe('the decorated method', () => {
  it('rejects with the same object that the work threw', async () => {
    await using app = await startApp({ controllers: [Orders] });
    const failure: unknown = await app
      .get(Orders)
      .plain('7', 1)
      .catch((error: unknown) => error);
    expect(failure).toBe(THE_ERROR);
    expect(failure).toMatchObject({ code: 'OWN', id: '7' });
  });

  it('keeps name, length, metadata and properties', () => {
    const { plain, above } = Orders.prototype as unknown as Record<string, Function>;
    expect([plain!.name, plain!.length]).toEqual(['plain', 2]);
    expect(Object.assign({}, plain)).toEqual({ [SYMBOL_KEY]: 'kept', tagged: true });
    expect([above!.name, above!.length]).toEqual(['above', 1]);
    expect(Reflect.getMetadata('role', above!)).toBe('admin');
    const { below } = Orders.prototype as unknown as Record<string, Function>;
    const keys = Reflect.getMetadataKeys(above!);
    expect(new Set(keys)).toEqual(new Set(Reflect.getMetadataKeys(below!)));
    expect(keys).toEqual(expect.arrayContaining(['role', 'path', 'method', '__httpCode__']));
    expect(Reflect.getMetadata('design:returntype', Orders.prototype, 'above')).toBe(Promise);
  });
});
