import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { SoldOutError } from './stock-errors.js';
import { StockLedger } from './stock-ledger.js';

export interface StockLevel {
  readonly sku: string;
  readonly units: number;
}

export interface Order {
  readonly id: string;
  readonly sku: string;
  readonly unitsLeft: number;
}

/** What a shop does with its stock. `fence` is the fencing token of the lock on the article, where the caller holds one. */
export class Stock {
  constructor(private readonly ledger: StockLedger) {}

  /**
   * Takes one unit. Read, pack for some milliseconds, write: right only while no other order does the same with this article.
   * Rejects with `SoldOutError`, or with `StaleWriteError` when a newer holder of the lock was here in the meantime.
   */
  async sell(sku: string, fence?: bigint, packing = 0): Promise<Order> {
    const units = await this.ledger.read(sku, fence);
    if (units === 0) throw new SoldOutError(sku);
    if (packing > 0) await sleep(packing);
    await this.ledger.write(sku, units - 1, fence);
    return { id: randomUUID(), sku, unitsLeft: units - 1 };
  }

  async set(sku: string, units: number, fence?: bigint): Promise<StockLevel> {
    await this.ledger.write(sku, units, fence);
    return { sku, units };
  }

  async level(sku: string): Promise<StockLevel> {
    return { sku, units: await this.ledger.read(sku) };
  }

  async levels(): Promise<StockLevel[]> {
    const skus = await this.ledger.skus();
    return Promise.all(skus.map((sku) => this.level(sku)));
  }
}
