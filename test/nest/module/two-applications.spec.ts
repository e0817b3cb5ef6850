import { Controller, Get, Injectable, Param, Scope } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { DistributedLock, LockService } from 'nest-holdfast';
import { startApp, startServices } from '../support/test-app.js';

@Injectable()
class Orders {
  @DistributedLock('order:<id>')
  async pay(id: string) {
    return id;
  }
}

@Injectable({ scope: Scope.TRANSIENT })
class PerUse {
  @DistributedLock('use:<id>')
  async go(id: string) {
    return id;
  }
}

@Controller()
class Handlers {
  @Get('after/:id')
  @DistributedLock('after:<id>')
  async after(@Param('id') id: string) {
    return id;
  }

  @Get('before/:id')
  @DistributedLock('before:<request.params.id>', { before: 'pipes' })
  async before(@Param('id') id: string) {
    return id;
  }
}

class Plain {
  @DistributedLock('plain:<id>')
  async go(id: string) {
    return id;
  }
}

const parts = {
  controllers: [Handlers],
  providers: [Orders, PerUse, { provide: 'PLAIN', useFactory: () => new Plain() }],
};

describe('two applications in one process', () => {
  it('lock each with its own service', async () => {
    await using a = await startApp(parts);
    await using b = await startApp(parts);
    for (const [app, id] of [
      [a, 'a'],
      [b, 'b'],
    ] as const) {
      await app.get(Orders).pay(id);
      await (await app.app.resolve(PerUse)).go(id);
      await app.app.get<Plain>('PLAIN').go(id);
      await app.http.get(`/after/${id}`).expect(200);
      await app.http.get(`/before/${id}`).expect(200);
    }
    const keys = (id: string) =>
      ['order', 'use', 'plain', 'after', 'before'].flatMap((each) => [
        `+${each}:${id}`,
        `-${each}:${id}`,
      ]);
    expect(a.log).toEqual(keys('a'));
    expect(b.log).toEqual(keys('b'));
  });

  it('do not share the locks of their contexts', async () => {
    await using a = await startServices([Orders]);
    await using b = await startServices([Orders]);
    await a.locks.withLock('order:1', async () => {
      expect(b.locks.current()).toBeUndefined();
      await b.get(Orders).pay('1');
    });
    expect(b.log).toEqual(['+order:1', '-order:1']);
  });

  it('do not share instances: the second one that is given the same refuses to start', async () => {
    const providers = [{ provide: 'PLAIN', useValue: new Plain() }];
    await using first = await startServices(providers);
    await expect(startServices(providers)).rejects.toThrow(
      /instance of Plain .* meets the LockServices of two applications/,
    );
    await first.app.get<Plain>('PLAIN').go('1');
    expect(first.log).toEqual(['+plain:1', '-plain:1']);
  });

  it('do not help each other out: one without the module does not start', async () => {
    await using running = await startServices([Orders]);
    const withoutModule = Test.createTestingModule({ providers: [Orders] });
    await expect(withoutModule.compile()).rejects.toThrow(/import DistributedLockModule\.forRoot/);
    expect(running.app.get(LockService)).toBe(running.locks);
  });

  it('may close one after the other', async () => {
    const a = await startServices([Orders]);
    await using b = await startServices([Orders]);
    await a[Symbol.asyncDispose]();
    await expect(a.get(Orders).pay('1')).rejects.toThrow(/LockService is closed/);
    expect(await b.get(Orders).pay('1')).toBe('1');
  });
});
