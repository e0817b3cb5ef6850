import { deepEqual, equal } from 'node:assert/strict';
import { type INestApplication, Module } from '@nestjs/common';
import { Database, Migrations } from './docs/migrations';
import { Answers, Bank, Payments } from './docs/payments';
import { Cache, PriceList, Prices } from './docs/prices';
import { HandledEvents, Shipping, Webhooks } from './docs/webhooks';

/** What was done, in order. */
const done: string[] = [];
const did = async <T>(what: string, result: T): Promise<T> => {
  done.push(what);
  return result;
};
const prices = new Map<string, number>();
const handled = new Set<string>();
const answers = new Map<string, string>();

const DATABASE: Database = { migrate: () => did('migrate', undefined) };
const CACHE: Cache = {
  get: async (sku) => prices.get(sku),
  set: async (sku, price) => void prices.set(sku, price),
};
const LIST: PriceList = { load: (sku) => did(`load ${sku}`, 9) };
const EVENTS: HandledEvents = {
  has: async (id) => handled.has(id),
  add: async (id) => void handled.add(id),
};
const SHIPPING: Shipping = { ship: ({ id }) => did(`ship ${id}`, undefined) };
const ANSWERS: Answers = {
  find: async (key) => answers.get(key),
  keep: async (key, answer) => void answers.set(key, answer),
};
const BANK: Bank = { charge: ({ amount }) => did(`charge ${amount}`, `charged ${amount}`) };

/** The recipes of the documentation, with data in memory. */
@Module({
  controllers: [Webhooks, Payments],
  providers: [
    Migrations,
    Prices,
    { provide: Database, useValue: DATABASE },
    { provide: Cache, useValue: CACHE },
    { provide: PriceList, useValue: LIST },
    { provide: HandledEvents, useValue: EVENTS },
    { provide: Shipping, useValue: SHIPPING },
    { provide: Answers, useValue: ANSWERS },
    { provide: Bank, useValue: BANK },
  ],
})
export class RecipesModule {}

/** Each does its work once, whatever comes twice at the same time. */
export async function checkRecipes(app: INestApplication, url: string): Promise<void> {
  const post = (path: string, body: object, headers = {}) =>
    fetch(`${url}/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  const once = { 'idempotency-key': 'k1' };
  const twice = <T>(call: () => Promise<T>) => Promise.all([call(), call()]);

  deepEqual(await twice(() => app.get(Prices).of('lamp')), [9, 9]);
  for (const { status } of await twice(() => post('webhooks', { id: 'e1' }))) equal(status, 204);
  for (const paid of await twice(() => post('payments', { amount: 5 }, once)))
    equal(await paid.text(), 'charged 5');
  equal((await post('payments', { amount: 6 })).status, 400);
  deepEqual(done, ['migrate', 'load lamp', 'ship e1', 'charge 5']);
}
