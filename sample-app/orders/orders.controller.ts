import { Controller, Param, Post } from '@nestjs/common';
import { SkuPipe } from '../stock/sku.pipe.js';
import type { Order } from '../stock/stock.js';
import { OrdersService } from './orders.service.js';

@Controller('orders')
export class OrdersController {
  constructor(private readonly orders: OrdersService) {}

  @Post(':sku')
  place(@Param('sku', SkuPipe) sku: string): Promise<Order> {
    return this.orders.place(sku);
  }

  /** For the demo, which shows what the lock is for. */
  @Post(':sku/unlocked')
  placeUnlocked(@Param('sku', SkuPipe) sku: string): Promise<Order> {
    return this.orders.placeUnlocked(sku);
  }
}
