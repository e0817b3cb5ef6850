import {
  Controller,
  Get,
  Injectable,
  Param,
  UseInterceptors,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import { DistributedLock, DistributedLockInterceptor } from 'nest-holdfast';
import { Observable, defer, of, retry, throwError } from 'rxjs';
import { ADAPTERS, startApp } from '../support/test-app.js';

@Injectable()
class Retry implements NestInterceptor {
  intercept(_: ExecutionContext, next: CallHandler) {
    return next.handle().pipe(retry(2));
  }
}

let attempts = 0;

function flaky(id: string): string {
  attempts += 1;
  if (attempts < 3) throw new Error(`attempt ${attempts} fails`);
  return `done ${id}`;
}

@Controller()
class Orders {
  @Get('above/:id')
  @UseInterceptors(Retry)
  @DistributedLock('order:<request.params.id>')
  async above(@Param('id') id: string) {
    return flaky(id);
  }

  @Get('below/:id')
  @DistributedLock('order:<request.params.id>')
  @UseInterceptors(Retry)
  async below(@Param('id') id: string) {
    return flaky(id);
  }

  @Get('argument/:id')
  @UseInterceptors(Retry)
  @DistributedLock('order:<id>')
  async argument(@Param('id') id: string) {
    return flaky(id);
  }

  @Get('before/:id')
  @UseInterceptors(Retry)
  @DistributedLock('order:<request.params.id>', { before: 'pipes' })
  async before(@Param('id') id: string) {
    return flaky(id);
  }

  @Get('observable/:id')
  @UseInterceptors(Retry)
  @DistributedLock('order:<request.params.id>', { returns: 'observable' })
  observable(@Param('id') id: string): Observable<string> {
    return defer(() => of(flaky(id)));
  }

  @Get('thrown/:id')
  @UseInterceptors(Retry)
  @DistributedLock('order:<request.params.id>', { before: 'pipes', returns: 'observable' })
  thrown(@Param('id') id: string): Observable<string> {
    return of(flaky(id));
  }

  @Get('never/:id')
  @UseInterceptors(Retry)
  @DistributedLock('order:<request.params.id>', { returns: 'observable' })
  never(): Observable<string> {
    return throwError(() => new Error('fails always'));
  }

  @Get('nested/:id')
  @DistributedLock('order:<request.params.id>')
  async nested(@Param('id') id: string): Promise<string> {
    return attempts++ === 0 ? this.nested(id) : id;
  }
}

describe.each(ADAPTERS)('an interceptor that tries a handler again, with %s', (adapter) => {
  const paths = ['above', 'below', 'argument', 'before', 'observable', 'thrown'];
  const kinds = [
    ['as the decorator has it', []],
    ['with the interceptor around all', [DistributedLockInterceptor]],
  ] as const;

  describe.each(kinds)('%s', (_, interceptors) => {
    it.each(paths)('locks each attempt, and gives the lock back: %s', async (path) => {
      attempts = 0;
      const providers = interceptors.map((useClass) => ({ provide: APP_INTERCEPTOR, useClass }));
      await using app = await startApp({ adapter, controllers: [Orders], providers });
      const response = await app.http.get(`/${path}/7`);
      expect([response.status, response.text]).toEqual([200, 'done 7']);
      expect(attempts).toBe(3);
      expect(await app.isFree('order:7')).toBe(true);
    });
  });

  it('gets the last error as it is', async () => {
    await using app = await startApp({ adapter, controllers: [Orders] });
    await app.http.get('/never/7').expect(500);
    expect(app.log).toEqual([
      '+order:7',
      '-order:7',
      '+order:7',
      '-order:7',
      '+order:7',
      '-order:7',
    ]);
  });

  it('and what a handler itself calls is still no part of the request', async () => {
    attempts = 0;
    await using app = await startApp({ adapter, controllers: [Orders] });
    await app.http.get('/nested/7').expect(500);
    expect(await app.isFree('order:7')).toBe(true);
  });
});
