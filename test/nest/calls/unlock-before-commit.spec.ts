import { Injectable } from '@nestjs/common';
import { DistributedLock } from 'nest-holdfast';
import { startServices, type TestApp } from '../support/test-app.js';

/** A table with transactions: others see the rows of one only after its commit. */
class Database {
  readonly log: string[] = [];
  #stock = 10;

  async transaction<T>(work: (tx: { stock: number }) => Promise<T>): Promise<T> {
    const tx = { stock: this.#stock };
    this.log.push('begin');
    const result = await work(tx);
    await new Promise((resolve) => setImmediate(resolve)); // a commit is a round trip
    this.#stock = tx.stock;
    this.log.push('commit');
    return result;
  }

  get stock(): number {
    return this.#stock;
  }
}

interface HasDatabase {
  readonly database: Database;
}

/** As the `@Transactional` of many packages: runs the method inside a transaction, given as its last argument. */
function Transactional(): MethodDecorator {
  return (_target, _property, descriptor) => {
    const method = descriptor.value as (...args: unknown[]) => Promise<unknown>;
    descriptor.value = function (this: HasDatabase, ...args: unknown[]) {
      return this.database.transaction((tx) => method.call(this, ...args, tx));
    } as never;
  };
}

@Injectable()
class Stock implements HasDatabase {
  readonly database = new Database();

  // Right: the lock is written on top, so it is outermost: begin, work and commit happen under it.
  @DistributedLock('stock:<0>')
  @Transactional()
  async take(_sku: string, tx?: { stock: number }) {
    tx!.stock -= 1;
  }

  // Wrong: the transaction is outermost, and commits when the lock is already gone.
  @Transactional()
  @DistributedLock('stock:<sku>')
  async takeWrongly(sku: string, tx?: { stock: number }) {
    tx!.stock -= 1;
    return sku;
  }
}

describe('a lock and a transaction', () => {
  let app: TestApp;
  let stock: Stock;

  beforeEach(async () => {
    app = await startServices([Stock]);
    stock = app.get(Stock);
    app.locks.events.on('held', () => stock.database.log.push('lock'));
    app.locks.events.on('released', () => stock.database.log.push('unlock'));
  });
  afterEach(() => app[Symbol.asyncDispose]());

  it('unlock after the commit when the lock is written on top', async () => {
    await stock.take('k');
    expect(stock.database.log).toEqual(['lock', 'begin', 'commit', 'unlock']);
  });

  it('count right when the lock is written on top', async () => {
    await Promise.all(Array.from({ length: 5 }, () => stock.take('k')));
    expect(stock.database.stock).toBe(5);
  });

  it('unlock before the commit, and lose updates, when the transaction is written on top', async () => {
    await Promise.all([stock.takeWrongly('k'), stock.takeWrongly('k')]);
    const { log } = stock.database;
    expect(log.indexOf('unlock')).toBeLessThan(log.indexOf('commit'));
    expect(stock.database.stock).toBe(9);
  });
});
