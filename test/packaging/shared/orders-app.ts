import 'reflect-metadata';
import { equal, match } from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  Controller,
  Get,
  type INestApplication,
  Inject,
  Injectable,
  Module,
  Param,
} from '@nestjs/common';
import { DistributedLock, DistributedLockModule, LockService } from 'nest-holdfast';

/** How many calls are inside at once. */
class Gauge {
  most = 0;
  #now = 0;

  async visit(): Promise<void> {
    this.#now += 1;
    this.most = Math.max(this.most, this.#now);
    await sleep(20);
    this.#now -= 1;
  }
}

@Injectable()
export class OrdersService {
  readonly gauge = new Gauge();

  @DistributedLock('order:<id>', { waitTimeout: 5_000 })
  async pay(id: string): Promise<string> {
    await this.gauge.visit();
    return `paid ${id}`;
  }
}

@Controller('orders')
export class OrdersController {
  readonly gauge = new Gauge();

  constructor(@Inject(OrdersService) private readonly orders: OrdersService) {}

  @Get(':id')
  @DistributedLock('order-page:<id>')
  async show(@Param('id') id: string): Promise<string> {
    await this.gauge.visit();
    return this.orders.pay(id);
  }
}

@Module({
  imports: [DistributedLockModule.forRoot({})],
  controllers: [OrdersController],
  providers: [OrdersService],
})
export class OrdersModule {}

/** Uses everything once in a running application; throws where a lock does not hold. */
export async function checkOrders(app: INestApplication): Promise<void> {
  await app.listen(0, '127.0.0.1');
  const url = await app.getUrl();

  const answers = await Promise.all(['7', '7', '7'].map((id) => fetch(`${url}/orders/${id}`)));
  for (const answer of answers) {
    equal(answer.status, 200);
    match(await answer.text(), /paid 7/);
  }
  equal(app.get(OrdersController).gauge.most, 1);

  const orders = app.get(OrdersService);
  await Promise.all([orders.pay('8'), orders.pay('8')]);
  equal(orders.gauge.most, 1);

  const locks = app.get(LockService);
  equal(await locks.withLock('report', async (lock) => typeof lock.fencingToken), 'bigint');
}
