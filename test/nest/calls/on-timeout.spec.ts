import { Controller, Get, Injectable, Sse } from '@nestjs/common';
import { DistributedLock, type Lock, LockTimeoutError } from 'nest-holdfast';
import { lastValueFrom, Observable, of, toArray } from 'rxjs';
import { ADAPTERS, startApp, startServices, type TestApp } from '../support/test-app.js';

const AT_ONCE = { waitTimeout: 0 };
const told = (error: LockTimeoutError, ...args: unknown[]) => [error.code, error.key, ...args];

@Injectable()
class Jobs {
  readonly name = 'jobs';

  @DistributedLock('busy', AT_ONCE)
  async throws() {
    return 'ran';
  }

  @DistributedLock('busy', { ...AT_ONCE, onTimeout: 'skip' })
  async skips() {
    return 'ran';
  }

  @DistributedLock('busy', {
    ...AT_ONCE,
    onTimeout(this: Jobs, error: LockTimeoutError, n: number) {
      return [this.name, error.key, n];
    },
  })
  async calls(n: number): Promise<unknown> {
    return n;
  }

  @DistributedLock('busy', {
    ...AT_ONCE,
    onTimeout: () => Promise.reject(new TypeError('of its own')),
  })
  async callsAndFails() {}

  @DistributedLock('busy:<id>', { ...AT_ONCE, onTimeout: 'skip' })
  async skipsOnlyTimeouts(id?: string) {
    if (id === 'fail') throw new RangeError('of the work');
    return id;
  }

  @DistributedLock('busy', { ...AT_ONCE, onTimeout: 'skip' })
  streamSkips(): Observable<number> {
    return of(1);
  }

  @DistributedLock('busy', { ...AT_ONCE, onTimeout: told })
  streamGetsValue(n: number): Observable<unknown> {
    return of(n);
  }

  @DistributedLock('busy', { ...AT_ONCE, onTimeout: () => of('a', 'b') })
  streamGetsStream(): Observable<string> {
    return of('ran');
  }

  @DistributedLock('busy', AT_ONCE)
  streamThrows(): Observable<number> {
    return of(1);
  }

  @DistributedLock('busy', { ...AT_ONCE, onTimeout: 'skip' })
  async *rowsSkip() {
    yield 1;
  }

  @DistributedLock('busy', {
    ...AT_ONCE,
    async *onTimeout() {
      yield 'a';
      yield 'b';
    },
  })
  async *rowsGetRows(): AsyncGenerator<string> {
    yield 'ran';
  }

  @DistributedLock('busy', { ...AT_ONCE, onTimeout: () => 'result' })
  async *rowsGetResult(): AsyncGenerator<number, string> {
    yield 1;
    return 'ran';
  }

  @DistributedLock('busy', AT_ONCE)
  async *rowsThrow() {
    yield 1;
  }
}

describe('onTimeout, when the key stays held', () => {
  let app: TestApp;
  let jobs: Jobs;
  let held: Lock;

  beforeAll(async () => {
    app = await startServices([Jobs]);
    jobs = app.get(Jobs);
    held = await app.elsewhere.acquire('busy');
  });
  afterAll(() => app[Symbol.asyncDispose]());

  const timeout = { code: 'LOCK_TIMEOUT', key: 'busy' };
  const rowsOf = async (rows: AsyncIterable<unknown>) => {
    const all: unknown[] = [];
    for await (const row of rows) all.push(row);
    return all;
  };

  it('throws by itself, and never runs the method', async () => {
    await expect(jobs.throws()).rejects.toMatchObject(timeout);
    await expect(lastValueFrom(jobs.streamThrows())).rejects.toMatchObject(timeout);
    await expect(jobs.rowsThrow().next()).rejects.toMatchObject(timeout);
  });

  it("'skip' gives undefined, or a stream that ends", async () => {
    expect(await jobs.skips()).toBeUndefined();
    expect(await lastValueFrom(jobs.streamSkips().pipe(toArray()))).toEqual([]);
    expect(await rowsOf(jobs.rowsSkip())).toEqual([]);
  });

  it('a function gets the instance, the error and the arguments, and gives the result', async () => {
    expect(await jobs.calls(7)).toEqual(['jobs', 'busy', 7]);
    await expect(jobs.callsAndFails()).rejects.toThrow('of its own');
  });

  it('a function gives a stream its value, or another stream', async () => {
    expect(await lastValueFrom(jobs.streamGetsValue(7))).toEqual(['LOCK_TIMEOUT', 'busy', 7]);
    expect(await lastValueFrom(jobs.streamGetsStream().pipe(toArray()))).toEqual(['a', 'b']);
    expect(await rowsOf(jobs.rowsGetRows())).toEqual(['a', 'b']);
    expect(await jobs.rowsGetResult().next()).toEqual({ done: true, value: 'result' });
  });

  it('has nothing to say in other failures', async () => {
    await expect(jobs.skipsOnlyTimeouts('fail')).rejects.toThrow('of the work');
    await expect(jobs.skipsOnlyTimeouts()).rejects.toMatchObject({ code: 'LOCK_KEY_INVALID' });
  });

  it('has nothing to say when the key is free', async () => {
    await held.release();
    expect(await jobs.calls(7)).toBe(7);
    expect(await lastValueFrom(jobs.streamSkips())).toBe(1);
    expect(await rowsOf(jobs.rowsGetRows())).toEqual(['ran']);
    held = await app.elsewhere.acquire('busy');
  });
});

@Controller()
class Handlers {
  @Get('skips')
  @DistributedLock('busy', { ...AT_ONCE, onTimeout: 'skip' })
  async skips() {
    return 'ran';
  }

  @Get('stream-skips')
  @DistributedLock('busy', { ...AT_ONCE, onTimeout: 'skip' })
  streamSkips(): Observable<string> {
    return of('ran');
  }

  @Get('before-skips')
  @DistributedLock('busy', { ...AT_ONCE, onTimeout: 'skip', before: 'pipes' })
  async beforeSkips() {
    return 'ran';
  }

  @Get('before-calls')
  @DistributedLock('busy', { ...AT_ONCE, onTimeout: told, before: 'pipes' })
  async beforeCalls() {
    return 'ran';
  }

  @Sse('events-skip')
  @DistributedLock('busy', { ...AT_ONCE, onTimeout: 'skip' })
  eventsSkip(): Observable<{ data: string }> {
    return of({ data: 'ran' });
  }

  @Sse('before-events-skip')
  @DistributedLock('busy', { ...AT_ONCE, onTimeout: 'skip', before: 'pipes' })
  beforeEventsSkip(): Observable<{ data: string }> {
    return of({ data: 'ran' });
  }
}

describe.each(ADAPTERS)('onTimeout of a handler, on %s', (adapter) => {
  it.each([
    ['skips', ''],
    ['stream-skips', ''],
    ['before-skips', ''],
    ['before-calls', '["LOCK_TIMEOUT","busy"]'],
    ['events-skip', ''],
    ['before-events-skip', ''],
  ])('%s with an answer', async (path, answer) => {
    await using app = await startApp({ adapter, controllers: [Handlers] });
    await using held = await app.elsewhere.acquire('busy');
    const busy = await app.http.get(`/${path}`).expect(200);
    expect(busy.text.trim()).toBe(answer);

    await held.release();
    const free = await app.http.get(`/${path}`).expect(200);
    expect(free.text).toContain('ran');
  });
});
