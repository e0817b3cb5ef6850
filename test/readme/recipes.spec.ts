import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { Module } from '@nestjs/common';
import type { INestApplication } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { DistributedLockModule } from 'nest-holdfast';
import { LockControl, LockTestingModule } from 'nest-holdfast/testing';
import request from 'supertest';
import { readPage } from './support/markdown.js';

type Class = abstract new (...args: never[]) => object;
type Recipe = Readonly<Record<string, Class>>;

/** Two processes of an application that have the recipe's class, beside the same data. */
const PROCESSES = 2;

describe('the recipes', () => {
  const directory = mkdtempSync(join(__dirname, 'blocks-')); // inside the project, so that imports resolve as a user's do
  const recipes = new Map<string, Recipe>();
  const apps: INestApplication[] = [];

  beforeAll(async () => {
    for (const { marks, code } of readPage('docs/recipes.md').blocks) {
      const name = marks.find((mark) => mark.startsWith('file='))!.slice('file='.length);
      writeFileSync(join(directory, name), code);
      recipes.set(name, (await import(join(directory, name))) as Recipe);
    }
  });

  afterEach(async () => {
    for (const app of apps.splice(0)) await app.close();
  });

  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  it('has a section for each file', () => {
    const { headings, blocks } = readPage('docs/recipes.md');
    const sections = headings.filter(({ level }) => level === 2).map(({ text }) => text);
    expect(blocks.map(({ heading }) => heading)).toEqual(sections);
  });

  it('run once at boot: one process migrates, and those beside it wait for it', async () => {
    const migrated: string[] = [];
    const database = {
      async migrate() {
        if (migrated.length > 0) return;
        await setImmediate();
        migrated.push('001');
      },
    };
    await start('migrations.ts', { Migrations: 'provider', Database: database });
    expect(migrated).toEqual(['001']);
  });

  it('cache stampede: of many callers in several processes, one loads the price', async () => {
    const cache = new Map<string, number>();
    let loads = 0;
    const list = {
      async load() {
        await setImmediate();
        return ++loads;
      },
    };
    await start('prices.ts', {
      Prices: 'provider',
      Cache: {
        get: async (key: string) => cache.get(key),
        set: async (key: string, value: number) => void cache.set(key, value),
      },
      PriceList: list,
    });
    const services = apps.map((app) =>
      app.get<{ of(sku: string): Promise<number> }>(recipe('prices.ts', 'Prices')),
    );
    const prices = Array.from({ length: 50 }, (_, index) =>
      services[index % PROCESSES]!.of('lamp'),
    );
    expect(new Set(await Promise.all(prices))).toEqual(new Set([1]));
  });

  it('webhooks that arrive twice: the second delivery does nothing', async () => {
    const ids = new Set<string>();
    let shipped = 0;
    await start('webhooks.ts', {
      Webhooks: 'controller',
      HandledEvents: {
        has: async (id: string) => ids.has(id),
        add: async (id: string) => void ids.add(id),
      },
      Shipping: {
        async ship() {
          await setImmediate();
          shipped++;
        },
      },
    });
    const both = apps.map((app) =>
      request(app.getHttpServer()).post('/webhooks').send({ id: '7' }),
    );
    for (const { status } of await Promise.all(both)) expect(status).toBe(204);
    expect(shipped).toBe(1);
  });

  it('lock and transaction: the lock is released after the commit', async () => {
    const rows = [{ balance: 100 }];
    const order: string[] = [];
    const database = {
      async transaction(work: (transaction: object) => Promise<void>) {
        let written = rows[0]!.balance;
        const query = async (sql: string, [value]: [number]) =>
          sql.startsWith('SELECT') ? [{ balance: written }] : void (written = value);
        await work({ query });
        await setImmediate();
        rows[0]!.balance = written;
        order.push('commit');
      },
    };
    const { DataSource } = await import('typeorm');
    await start('accounts.ts', { Accounts: 'provider' }, [
      { provide: DataSource, useValue: database },
    ]);
    const accounts = apps.map((app) =>
      app.get<{ withdraw(id: number, amount: number): Promise<void> }>(
        recipe('accounts.ts', 'Accounts'),
      ),
    );
    await Promise.all(accounts.map((each) => each.withdraw(1, 40)));
    expect(rows).toEqual([{ balance: 20 }]);
    await expect(accounts[0]!.withdraw(1, 40)).rejects.toThrow('not enough money');
  });

  it('idempotent requests: the bank is asked once, and a request without a key is refused', async () => {
    const answers = new Map<string, string>();
    let charges = 0;
    await start('payments.ts', {
      Payments: 'controller',
      Answers: {
        find: async (key: string) => answers.get(key),
        keep: async (key: string, answer: string) => void answers.set(key, answer),
      },
      Bank: {
        async charge() {
          await setImmediate();
          return `charge ${++charges}`;
        },
      },
    });
    const pay = (app: INestApplication) =>
      request(app.getHttpServer()).post('/payments').send({ amount: 5 });
    const both = apps.map((app) => pay(app).set('idempotency-key', 'k1'));
    for (const { text } of await Promise.all(both)) expect(text).toBe('charge 1');
    expect((await pay(apps[0]!)).status).toBe(400);
    expect(charges).toBe(1);
  });

  function recipe(file: string, name: string): Class {
    return recipes.get(file)![name]!;
  }

  /** Starts the processes together, with what the classes of the recipe are in the test. */
  async function start(
    file: string,
    parts: Readonly<Record<string, 'provider' | 'controller' | object>>,
    others: object[] = [],
  ): Promise<void> {
    const all = Object.entries(parts).map(([name, part]) => ({ type: recipe(file, name), part }));
    const typesOf = (kind: string) =>
      all.flatMap(({ type, part }) => (part === kind ? [type] : []));
    const fakes = all.filter(({ part }) => typeof part === 'object');
    const providers = [
      ...fakes.map(({ type, part }) => ({ provide: type, useValue: part })),
      ...others,
    ];
    const control = new LockControl(); // one store, as of several processes
    const make = async () => {
      @Module({
        imports: [DistributedLockModule.forRoot({ redis: 'redis://redis.internal' })],
        providers: [...providers, ...typesOf('provider')] as never[],
        controllers: typesOf('controller') as never[],
      })
      class AppModule {}
      const testing = { imports: [AppModule, LockTestingModule.forRoot(control)] };
      const app = (await Test.createTestingModule(testing).compile()).createNestApplication();
      apps.push(app);
      await app.init();
    };
    await Promise.all(Array.from({ length: PROCESSES }, make));
  }
});
