import { Injectable } from '@nestjs/common';
import { DistributedLock, LockService } from 'nest-holdfast';
import { ControlledStore } from '../support/controlled-store.js';
import { startServices, type TestApp } from '../support/test-app.js';

@Injectable()
class Exports {
  steps: string[] = [];

  constructor(readonly locks: LockService) {}

  @DistributedLock('export:<id>')
  async *rows(id: string, count = 3): AsyncGenerator<string, string, string | undefined> {
    try {
      for (let row = 0; row < count; row++) {
        const told: string | undefined = yield `${id}${row}:${this.locks.current()?.key}`;
        if (told) this.steps.push(told);
      }
      return 'all';
    } catch (error) {
      this.steps.push(`caught ${String(error)}`);
      return 'some';
    } finally {
      this.steps.push(`closed under ${this.locks.current()?.key}`);
    }
  }

  @DistributedLock('strict:<0.id>')
  async *destructured({ id }: { id: string }, [first]: string[]) {
    yield id + first;
  }

  @DistributedLock('failing')
  async *failing() {
    yield 1;
    throw new Error('broken');
  }

  @DistributedLock('bad-finally')
  async *failsToClose() {
    try {
      yield 1;
    } finally {
      // eslint-disable-next-line no-unsafe-finally -- the case that this is about
      throw new Error('cannot close');
    }
  }

  @DistributedLock('told', { returns: 'iterable' })
  told(list: AsyncIterable<number>): AsyncIterable<number> {
    return list;
  }

  @DistributedLock('untold')
  async promised() {
    return this.rows('u');
  }

  @DistributedLock('query')
  query(): Promise<string> {
    // As the queries of Mongoose: to be awaited, or iterated over.
    return Object.assign(Promise.resolve('found'), ones);
  }

  @DistributedLock('untold')
  untold(): AsyncIterable<string> {
    return this.rows('u');
  }
}

const ones: AsyncIterable<number> = {
  [Symbol.asyncIterator]: () => ({ next: async () => ({ done: false, value: 1 }) }),
};

describe('@DistributedLock on an async generator', () => {
  const store = new ControlledStore();
  let app: TestApp;
  let service: Exports;

  beforeAll(async () => {
    app = await startServices([Exports], { store });
    service = app.get(Exports);
  });
  afterAll(() => app[Symbol.asyncDispose]());
  beforeEach(() => {
    app.takeLog();
    service.steps = [];
  });

  it('locks with the first step and releases after the last', async () => {
    const rows = service.rows('a');
    expect(app.log).toEqual([]);
    const seen: string[] = [];
    for await (const row of rows) seen.push(row);
    expect(seen).toEqual(['a0:export:a', 'a1:export:a', 'a2:export:a']);
    expect(app.log).toEqual(['+export:a', '-export:a']);
  });

  it('does not give its lock to the loop that reads it', async () => {
    for await (const row of service.rows('a', 1)) {
      expect([row, app.locks.current()]).toEqual(['a0:export:a', undefined]);
    }
  });

  it('releases when the loop is left, after its finally has run under the lock', async () => {
    for await (const row of service.rows('a')) if (row) break;
    expect(service.steps).toEqual(['closed under export:a']);
    expect(app.log).toEqual(['+export:a', '-export:a']);
  });

  it('passes on what is sent, thrown and returned', async () => {
    const sent = service.rows('a');
    await sent.next();
    await sent.next('hello');
    expect(await sent.throw('halt')).toEqual({ done: true, value: 'some' });
    expect(service.steps).toEqual(['hello', 'caught halt', 'closed under export:a']);

    const returned = service.rows('b');
    await returned.next();
    expect(await returned.return('enough')).toEqual({ done: true, value: 'enough' });
    expect(app.log).toEqual(['+export:a', '-export:a', '+export:b', '-export:b']);
  });

  it('gives the return value of the generator', async () => {
    const rows = service.rows('a', 0);
    expect(await rows.next()).toEqual({ done: true, value: 'all' });
  });

  it('takes no lock when it is returned before its first step', async () => {
    await service.rows('a').return('none');
    expect(app.log).toEqual([]);
  });

  it('releases when a step fails', async () => {
    const rows = service.failing();
    await rows.next();
    await expect(rows.next()).rejects.toThrow('broken');
    expect(app.log).toEqual(['+failing', '-failing']);
  });

  it('releases when the generator fails before its first step', async () => {
    const rows = service.destructured({ id: 'x' }, undefined as never);
    await expect(rows.next()).rejects.toThrow(TypeError);
    expect(app.log).toEqual(['+strict:x', '-strict:x']);
  });

  it('releases when the generator fails to close', async () => {
    const rows = service.failsToClose();
    await rows.next();
    await expect(rows.return()).rejects.toThrow('cannot close');
    expect(app.log).toEqual(['+bad-finally', '-bad-finally']);
  });

  it('fails with the next step once the lock is lost', async () => {
    const rows = service.rows('a');
    await rows.next();
    store.endSession();
    await expect(rows.next()).rejects.toMatchObject({ code: 'LOCK_LOST', reason: 'session' });
    expect(service.steps).toEqual(['closed under undefined']);
  });

  it('serves any async iterable, if it is told so', async () => {
    const closed: string[] = [];
    const list: AsyncIterable<number> = {
      [Symbol.asyncIterator]: () => ({
        next: async () => ({ done: false, value: 1 }),
        return: async () => ({ done: true, value: void closed.push('closed') }),
      }),
    };
    for await (const each of service.told(list)) if (each) break;
    const iterator = service.told(list)[Symbol.asyncIterator]();
    await iterator.next();
    await expect(iterator.throw!(new Error('halt'))).rejects.toThrow('halt');
    expect(closed).toEqual(['closed', 'closed']);
    expect(app.log).toEqual(['+told', '-told', '+told', '-told']);
  });

  it('releases when what it was told is not true', async () => {
    const iterator = service.told(undefined as never)[Symbol.asyncIterator]();
    await expect(iterator.next()).rejects.toThrow(TypeError);
    expect(app.log).toEqual(['+told', '-told']);
  });

  it('takes a query that is a promise, too, for that', async () => {
    expect(await service.query()).toBe('found');
    expect(app.log).toEqual(['+query', '-query']);
  });

  it.each(['untold', 'promised'] as const)(
    'refuses one that comes as a surprise: %s',
    async (way) => {
      const result = service[way]() as unknown as Promise<unknown>;
      await expect(result).rejects.toThrow(
        /(untold|promised) returned an async iterable: set returns/,
      );
      expect(app.log).toEqual(['+untold', '-untold']);
    },
  );
});
