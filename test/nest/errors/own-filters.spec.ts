import {
  type ArgumentsHost,
  Catch,
  Controller,
  type ExceptionFilter,
  Get,
  HttpException,
  Injectable,
  type Type,
  UseFilters,
} from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { DistributedLock, LockError, LockTimeoutError } from 'nest-holdfast';
import { startApp, type TestAppOptions } from '../support/test-app.js';

const AT_ONCE = { waitTimeout: 0 };

interface Answer {
  status(code: number): { send(body: object): void };
}

function answer(host: ArgumentsHost, filter: string, error: Error): void {
  host.switchToHttp().getResponse<Answer>().status(418).send({ filter, error: error.name });
}

@Catch(LockTimeoutError)
class OfTimeouts implements ExceptionFilter<LockTimeoutError> {
  catch(error: LockTimeoutError, host: ArgumentsHost) {
    answer(host, 'timeouts', error);
  }
}

@Catch(TypeError, LockError)
class OfLocks implements ExceptionFilter<Error> {
  catch(error: Error, host: ArgumentsHost) {
    answer(host, 'locks', error);
  }
}

@Catch()
class OfEverything implements ExceptionFilter<Error> {
  catch(error: Error, host: ArgumentsHost) {
    answer(host, error instanceof HttpException ? String(error.getStatus()) : 'unknown', error);
  }
}

@Injectable()
class Stock {
  @DistributedLock('stock', AT_ONCE)
  async count() {
    return 3;
  }
}

@Controller()
class Handlers {
  constructor(readonly stock: Stock) {}

  @Get('service')
  async service() {
    return this.stock.count();
  }

  @Get('handler')
  @DistributedLock('stock', AT_ONCE)
  async handler() {
    return 3;
  }

  @Get('own')
  @UseFilters(OfLocks)
  async own() {
    return this.stock.count();
  }

  @Get('everything')
  @UseFilters(new OfEverything())
  async everything() {
    return this.stock.count();
  }
}

async function busy(path: string, options: TestAppOptions = {}): Promise<unknown> {
  const { providers = [], ...others } = options;
  await using app = await startApp({
    controllers: [Handlers],
    providers: [Stock, ...providers],
    ...others,
  });
  return await app.elsewhere.withLock(
    'stock',
    async () => (await app.http.get(path)).body as unknown,
  );
}

const global = (useClass: Type) => ({ providers: [{ provide: APP_FILTER, useClass }] });
const TIMEOUT = { error: 'LockTimeoutError' };

describe('an exception filter of the application', () => {
  it.each(['/service', '/handler'])('that names the lock error gets it: %s', async (path) => {
    expect(await busy(path, global(OfTimeouts))).toEqual({ filter: 'timeouts', ...TIMEOUT });
    expect(await busy(path, global(OfLocks))).toEqual({ filter: 'locks', ...TIMEOUT });
    const prepare: TestAppOptions['prepare'] = (app) => app.useGlobalFilters(new OfLocks());
    expect(await busy(path, { prepare })).toEqual({ filter: 'locks', ...TIMEOUT });
  });

  it('that names it beside one handler gets it there', async () => {
    expect(await busy('/own')).toEqual({ filter: 'locks', ...TIMEOUT });
    expect(await busy('/service')).toMatchObject({ code: 'LOCK_TIMEOUT' });
  });

  it.each(['/service', '/handler'])(
    'for everything gets an exception with the status: %s',
    async (path) => {
      const filter = { filter: '409', error: 'HttpException' };
      expect(await busy(path, global(OfEverything))).toEqual(filter);
    },
  );

  it('for everything gets it where Nest would call it before one that names the lock error', async () => {
    const filter = { filter: '409', error: 'HttpException' };
    expect(await busy('/everything', global(OfTimeouts))).toEqual(filter);
  });

  it.each(['/service', '/handler'])('gets all of them with http: false: %s', async (path) => {
    const lockOptions = { http: false } as const;
    expect(await busy(path, { ...global(OfEverything), lockOptions })).toEqual({
      filter: 'unknown',
      ...TIMEOUT,
    });
  });
});

/** As people write it: whatever it is, the client gets it. */
@Catch()
class Verbose implements ExceptionFilter<Error> {
  catch(error: Error, host: ArgumentsHost) {
    host
      .switchToHttp()
      .getResponse<Answer>()
      .status(500)
      .send(JSON.parse(JSON.stringify(error)));
  }
}

it('a filter that sends the whole exception tells no client the key', async () => {
  const body = await busy('/service', global(Verbose));
  expect(body).toMatchObject({ status: 409, response: { code: 'LOCK_TIMEOUT' } });
  expect(JSON.stringify(body)).not.toContain('"stock"');
});
