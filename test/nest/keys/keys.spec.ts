import { Injectable } from '@nestjs/common';
import { DistributedLock, LockKey } from 'nest-holdfast';
import { startServices, type TestApp } from '../support/test-app.js';

interface Order {
  readonly id: string;
  readonly customer?: { readonly id: number };
}

@Injectable()
class Orders {
  readonly tenant = 'acme';

  @DistributedLock('order:<id>')
  async byName(id: string | number | undefined, _amount: number) {
    return id;
  }

  @DistributedLock('customer:<order.customer.id>')
  async byPath(order: Order | undefined) {
    return order;
  }

  @DistributedLock('order:<1.id>:<0>')
  async byPosition(..._args: unknown[]) {}

  @DistributedLock('order:<order.id>')
  async byMark(@LockKey('order') { id }: Order) {
    return id;
  }

  @DistributedLock(['stock:<to>', 'stock:<from>', 'audit'], { waitTimeout: 0 })
  async byList(from: string, to: string) {
    return [from, to];
  }

  @DistributedLock((order: Order, n: number) => `order:${order.id}:${n.toFixed()}`)
  async byFunction(order: Order, _n: number, _note?: string) {
    return order.id;
  }

  @DistributedLock((ids: string[]) => ids.map((id) => `order:${id}`))
  async byFunctionOfMany(ids: string[]) {
    return ids;
  }

  @DistributedLock('user:<email:trim:lower>:<age:int>')
  async filtered(age: string, email: string) {
    return age + email;
  }

  @DistributedLock('batch:<ids.0>:<ids.1>')
  async ofRest(_name: string, ...ids: string[]) {
    return ids;
  }

  @DistributedLock('<tenant>:<name>')
  async ofTwo(tenant: string, name: string) {
    return tenant + name;
  }

  @DistributedLock('page:<page>')
  async withDefault(page = 1) {
    return page;
  }
}

describe('the key of @DistributedLock', () => {
  let app: TestApp;
  let orders: Orders;

  beforeAll(async () => {
    app = await startServices([Orders]);
    orders = app.get(Orders);
  });
  afterAll(() => app[Symbol.asyncDispose]());
  beforeEach(() => app.takeLog());

  it('names a parameter', async () => {
    expect(await orders.byName('42', 7)).toBe('42');
    expect(app.log).toEqual(['+order:42', '-order:42']);
  });

  it('follows a path into a parameter', async () => {
    await orders.byPath({ id: 'a', customer: { id: 7 } });
    expect(app.log).toEqual(['+customer:7', '-customer:7']);
  });

  it('gives positions', async () => {
    await orders.byPosition('x', { id: 9 });
    expect(app.log[0]).toBe('+order:9:x');
  });

  it('names a destructured parameter by @LockKey', async () => {
    await orders.byMark({ id: 'a' });
    expect(app.log[0]).toBe('+order:a');
  });

  it('may be a list, taken all or none', async () => {
    await orders.byList('b', 'a');
    expect(app.takeLog()).toEqual(['+audit+stock:a+stock:b', '-audit+stock:a+stock:b']);

    await app.elsewhere.withLock('stock:b', async () => {
      await expect(orders.byList('a', 'b')).rejects.toMatchObject({ code: 'LOCK_TIMEOUT' });
    });
    expect(app.log).toEqual([]);
  });

  it('may be a function of the arguments', async () => {
    await orders.byFunction({ id: 'a' }, 3);
    await orders.byFunctionOfMany(['b', 'a', 'b']);
    expect(app.log.filter((entry) => entry.startsWith('+'))).toEqual([
      '+order:a:3',
      '+order:a+order:b',
    ]);
  });

  it('filters values, so that spellings of one thing are one key', async () => {
    await orders.filtered('007', ' Ada@Example.org ');
    await orders.filtered('7', 'ada@example.org');
    expect(new Set(app.log.filter((entry) => entry.startsWith('+'))).size).toBe(1);
  });

  it('reads rest parameters', async () => {
    await orders.ofRest('n', 'a', 'b');
    expect(app.log[0]).toBe('+batch:a:b');
  });

  it('refuses values that identify nothing, and takes no lock', async () => {
    for (const id of [undefined, null, '', Number.NaN, {}, Symbol('id')]) {
      await expect(orders.byName(id as string, 1)).rejects.toMatchObject({
        code: 'LOCK_KEY_INVALID',
        message: expect.stringContaining('<id>'),
      });
    }
    await expect(orders.byPath({ id: 'a' })).rejects.toThrow('"order.customer" is undefined');
    await expect(orders.byPath(undefined)).rejects.toThrow('"order" is undefined');
    expect(app.log).toEqual([]);
  });

  it('tells argument lists apart that would read the same', async () => {
    await orders.ofTwo('a:b', 'c');
    await orders.ofTwo('a', 'b:c');
    const [first, , second] = app.log;
    expect(first).not.toBe(second);
  });

  it('refuses a default that was left to the method, for the key cannot see it', async () => {
    await expect(orders.withDefault()).rejects.toMatchObject({
      code: 'LOCK_KEY_INVALID',
      message: expect.stringMatching(/<page> .* was not passed.*default/),
    });
    expect(await orders.withDefault(2)).toBe(2);
    expect(app.log).toEqual(['+page:2', '-page:2']);
  });
});
