import {
  Body,
  type CanActivate,
  Controller,
  type ExecutionContext,
  Get,
  Injectable,
  Param,
  ParseIntPipe,
  type PipeTransform,
  Post,
  Req,
  UseGuards,
  UsePipes,
  ValidationPipe,
} from '@nestjs/common';
import { IsInt } from 'class-validator';
import { DistributedLock, type LockService, InjectLocks } from 'nest-holdfast';
import { ADAPTERS, startApp, type TestApp } from '../support/test-app.js';

class PayDto {
  @IsInt()
  amount!: number;
}

@Injectable()
class LogIn implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    context.switchToHttp().getRequest<{ user: unknown }>().user = { id: 'u1' };
    return true;
  }
}

@Injectable()
class LoadOrder implements PipeTransform {
  constructor(@InjectLocks() private readonly locks: LockService) {}

  async transform(id: string) {
    return { id, keyWhileLoading: this.locks.current()?.key };
  }
}

@Controller('orders')
@UseGuards(LogIn)
class OrdersController {
  @Get('parsed/:id')
  @DistributedLock('order:<id>')
  async parsed(@Param('id', ParseIntPipe) id: number) {
    return { id };
  }

  @Get('raw/:id')
  @DistributedLock('order:<request.params.id:int>')
  async raw() {
    return {};
  }

  @Post('everything/:id')
  @DistributedLock(
    '<request.params.id>:<request.query.shop>:<request.body.item.sku>:<request.headers.x-tenant>:<request.user.id>',
  )
  async everything() {
    return {};
  }

  @Post('validated')
  @UsePipes(new ValidationPipe({ transform: true }))
  @DistributedLock('pay:<dto.amount>:<request.method>')
  async validated(@Body() dto: PayDto) {
    return { isDto: dto instanceof PayDto };
  }

  @Get('load/:id')
  @DistributedLock('order:<request.params.id:int>', { before: 'pipes' })
  async loaded(@Param('id', LoadOrder) order: object) {
    return order;
  }

  @Get('request/:id')
  @DistributedLock('order:<request.params.id>', { before: 'pipes' })
  async withRequest(@Req() req: { params: object }) {
    return req.params;
  }

  @Get('numbers/:id')
  @DistributedLock(['a:<request.params.id>', 'b:<request.params.id>'], { before: 'pipes' })
  async several(@Param('id', ParseIntPipe) id: number) {
    return { id };
  }
}

describe.each(ADAPTERS)('the key of a handler, on %s', (adapter) => {
  let app: TestApp;

  beforeAll(async () => {
    app = await startApp({ adapter, controllers: [OrdersController] });
  });
  afterAll(() => app[Symbol.asyncDispose]());
  beforeEach(() => app.takeLog());

  it('is read from the arguments after the pipes, so that 042 and 42 are one order', async () => {
    await app.http.get('/orders/parsed/042').expect(200, { id: 42 });
    expect(app.log).toEqual(['+order:42', '-order:42']);
  });

  it('is filtered from the raw request to the same key', async () => {
    await app.http.get('/orders/raw/042').expect(200);
    expect(app.log).toEqual(['+order:42', '-order:42']);
  });

  it('is not even asked for when a pipe refuses the request', async () => {
    await app.http.get('/orders/parsed/forty-two').expect(400);
    await app.http.post('/orders/validated').send({ amount: 'much' }).expect(400);
    expect(app.log).toEqual([]);
  });

  it('reads path, query, body, headers and user', async () => {
    const request = app.http.post('/orders/everything/7?shop=s1').set('x-tenant', 'acme');
    await request.send({ item: { sku: 'k9' } }).expect(201);
    expect(app.log[0]).toBe('+7:s1:k9:acme:u1');
  });

  it('may mix arguments and request', async () => {
    await app.http.post('/orders/validated').send({ amount: 5 }).expect(201, { isDto: true });
    expect(app.log[0]).toBe('+pay:5:POST');
  });

  it('that cannot be read is the client’s fault', async () => {
    const { body } = await app.http.post('/orders/everything/7').send({}).expect(400);
    expect(body).toMatchObject({ code: 'LOCK_KEY_INVALID' });
    await app.http.get('/orders/raw/forty-two').expect(400);
    expect(app.log).toEqual([]);
  });

  describe("with before: 'pipes'", () => {
    it('is locked while pipes load what it protects', async () => {
      const { body } = await app.http.get('/orders/load/042').expect(200);
      expect(body).toEqual({ id: '042', keyWhileLoading: 'order:42' });
      expect(app.log).toEqual(['+order:42', '-order:42']);
    });

    it('is released when a pipe refuses the request', async () => {
      await app.http.get('/orders/numbers/x').expect(400);
      expect(app.log).toEqual(['+a:x+b:x', '-a:x+b:x']);
    });

    it('reads the request also where a parameter is the request', async () => {
      await app.http.get('/orders/request/7').expect(200, { id: '7' });
      expect(app.log).toEqual(['+order:7', '-order:7']);
    });

    it('may be locked by Nest only', async () => {
      const controller = app.get(OrdersController);
      await expect(controller.loaded({})).rejects.toThrow(/loaded: with before: 'pipes' only Nest/);
    });
  });

  it('knows no request where the method is called as any other', async () => {
    await expect(app.get(OrdersController).raw()).rejects.toThrow(
      /<request.…> is known only where/,
    );
  });
});
