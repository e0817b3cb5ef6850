import { Injectable } from '@nestjs/common';
import { CurrentLock, DistributedLock, Lock, LockService } from 'nest-holdfast';
import { lastValueFrom, Observable, of } from 'rxjs';
import { until } from '../../support/until.js';
import { Deferred } from '../support/deferred.js';
import { startServices, type TestApp } from '../support/test-app.js';

@Injectable()
class Orders {
  running = 0;
  mostRunning = 0;

  constructor(readonly locks: LockService) {}

  @DistributedLock('order:<id>')
  async outer(id: string) {
    const inner = await this.inner(id);
    return [inner, this.locks.current()?.isHeld];
  }

  @DistributedLock('order:<id>', { reentrant: true })
  async inner(id: string) {
    return id;
  }

  @DistributedLock('order:<id>', { reentrant: true })
  async factorial(id: string, n: number): Promise<number> {
    return n <= 1 ? 1 : n * (await this.factorial(id, n - 1));
  }

  @DistributedLock(['order:<first>', 'order:<second>'], { reentrant: true })
  async both(first: string, second: string) {
    return [await this.inner(first), await this.inner(second)];
  }

  @DistributedLock('order:<id>')
  async wants(id: string, other: string) {
    return this.both(id, other);
  }

  @DistributedLock('order:<id>')
  async *rows(id: string) {
    yield await this.inner(id);
    yield await lastValueFrom(this.stream(id));
  }

  @DistributedLock('order:<id>', { reentrant: true })
  stream(id: string): Observable<string> {
    return of(`${id}!`);
  }

  @DistributedLock('order:<id>')
  async waits(id: string) {
    return this.alone(id);
  }

  @DistributedLock('order:<id>', { waitTimeout: 100 })
  async alone(id: string) {
    return id;
  }

  @DistributedLock('order:<id>')
  async releases(id: string, @CurrentLock() lock?: Lock) {
    await this.early(id);
    return [lock!.isHeld, this.locks.current() === lock];
  }

  @DistributedLock('order:<id>', { reentrant: true })
  async early(id: string, @CurrentLock() lock?: Lock) {
    return [id, await lock!.release()];
  }

  @DistributedLock('order:<id>')
  async work(id: string, until_: Promise<unknown>) {
    this.mostRunning = Math.max(this.mostRunning, ++this.running);
    await until_;
    this.running--;
    return id;
  }

  @DistributedLock('order:<id>')
  async lateCall(id: string, start: Promise<void>): Promise<() => Promise<string>> {
    const late = start.then(() => this.inner(id));
    return () => late;
  }
}

describe('a method that locks what its caller holds', () => {
  let app: TestApp;
  let orders: Orders;

  beforeAll(async () => {
    app = await startServices([Orders]);
    orders = app.get(Orders);
  });
  afterAll(() => app[Symbol.asyncDispose]());
  beforeEach(() => app.takeLog());

  it('re-enters it, and the outermost call releases it', async () => {
    expect(await orders.outer('1')).toEqual(['1', true]);
    expect(app.log).toEqual(['+order:1', '-order:1']);
  });

  it('may be itself', async () => {
    expect(await orders.factorial('1', 5)).toBe(120);
    expect(app.log).toEqual(['+order:1', '-order:1']);
  });

  it('may need one of several', async () => {
    expect(await orders.both('a', 'b')).toEqual(['a', 'b']);
    expect(app.log).toEqual(['+order:a+order:b', '-order:a+order:b']);
  });

  it('is refused at once when it needs more than its caller holds', async () => {
    await expect(orders.wants('a', 'b')).rejects.toMatchObject({ code: 'LOCK_DEADLOCK' });
    expect(app.log).toEqual(['+order:a', '-order:a']);
  });

  it('waits, and is refused, where it does not say reentrant: true', async () => {
    await expect(orders.waits('a')).rejects.toMatchObject({ code: 'LOCK_DEADLOCK' });
    expect(app.log).toEqual(['+order:a', '-order:a']);
  });

  it('shares it by the default of the module', async () => {
    await using other = await startServices([Orders], { reentrant: true });
    expect(await other.get(Orders).waits('a')).toBe('a');
    expect(other.log).toEqual(['+order:a', '-order:a']);
  });

  it('has a lock of its own, whose release leaves that of its caller held', async () => {
    expect(await orders.releases('a')).toEqual([true, true]);
    expect(app.log).toEqual(['+order:a', '-order:a']);
  });

  it('may be part of a stream', async () => {
    const rows: string[] = [];
    for await (const row of orders.rows('1')) rows.push(row);
    expect(rows).toEqual(['1', '1!']);
    expect(app.log).toEqual(['+order:1', '-order:1']);
  });

  it('waits like any other when it is called from elsewhere', async () => {
    const done = new Deferred();
    const calls = [1, 2, 3].map(() => orders.work('1', done.promise));
    await until(() => orders.running === 1);
    done.resolve();
    await Promise.all(calls);
    expect(orders.mostRunning).toBe(1);
    expect(app.log).toHaveLength(6);
  });

  it('takes a lock of its own when it outlives its caller', async () => {
    const start = new Deferred();
    const late = await orders.lateCall('1', start.promise);
    expect(app.takeLog()).toEqual(['+order:1', '-order:1']);
    start.resolve();
    expect(await late()).toBe('1');
    expect(app.log).toEqual(['+order:1', '-order:1']);
  });
});
