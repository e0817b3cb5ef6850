import { Injectable } from '@nestjs/common';
import { CurrentLock, DistributedLock, Lock } from 'nest-holdfast';
import { Stock } from '../stock/stock.js';
import type { Order } from '../stock/stock.js';

@Injectable()
export class OrdersService {
  constructor(private readonly stock: Stock) {}

  /** One at a time per article, across every process. */
  @DistributedLock('stock:<sku>')
  async place(sku: string, @CurrentLock() lock?: Lock): Promise<Order> {
    return this.stock.sell(sku, lock?.fencingToken);
  }

  /** The same without the lock: two orders may read the same number of units, and both sell the last one. */
  async placeUnlocked(sku: string): Promise<Order> {
    return this.stock.sell(sku);
  }
}
