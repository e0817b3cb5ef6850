import { Injectable } from '@nestjs/common';
import { CurrentLock, DistributedLock, Lock } from 'nest-holdfast';
import { Stock } from '../stock/stock.js';
import type { Order } from '../stock/stock.js';

@Injectable()
export class OrdersService {
  constructor(private readonly stock: Stock) {}

  /** One at a time per article, across every process. An order takes `packing` ms more than the stock does. */
  @DistributedLock('stock:<sku>', { waitTimeout: 30_000 }) // ms: on a slow machine, too, 50 orders have their turn
  async place(sku: string, packing?: number, @CurrentLock() lock?: Lock): Promise<Order> {
    return this.stock.sell(sku, lock?.fencingToken, packing);
  }

  /** The same without the lock: two orders may read the same number of units, and both sell the last one. */
  async placeUnlocked(sku: string, packing?: number): Promise<Order> {
    return this.stock.sell(sku, undefined, packing);
  }
}
