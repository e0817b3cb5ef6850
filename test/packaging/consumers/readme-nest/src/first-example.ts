import { deepEqual, equal } from 'node:assert/strict';
import { Controller, Param, Post } from '@nestjs/common';
import type { LockService } from 'nest-holdfast';
import { OrdersService } from './orders.service';

@Controller('orders')
export class OrdersController {
  constructor(private readonly orders: OrdersService) {}

  @Post(':id/pay')
  async pay(@Param('id') id: string) {
    await this.orders.pay(id, 5);
    return { paid: id };
  }
}

/** The decorated service that the controller calls: 201, and 409 while the order stays locked, without its key. */
export async function checkFirstExample(url: string, locks: LockService): Promise<void> {
  const pay = (id: string) => fetch(`${url}/orders/${id}/pay`, { method: 'POST' });
  const paid = await pay('7');
  equal(paid.status, 201);
  deepEqual(await paid.json(), { paid: '7' });

  const lock = await locks.acquire('order:8');
  const busy = await pay('8');
  await lock.release();
  equal(busy.status, 409);
  deepEqual(await busy.json(), {
    statusCode: 409,
    message: 'The lock is held',
    code: 'LOCK_TIMEOUT',
  });
}
