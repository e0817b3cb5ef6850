import 'reflect-metadata';
import { deepEqual, equal } from 'node:assert/strict';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { LockService } from 'nest-holdfast';
import { AppModule } from './app.module';
import { Bank } from './bank';
import { OrdersController, checkFirstExample } from './first-example';
import { OrdersService } from './orders.service';
import { RecipesModule, checkRecipes } from './recipes';
import { StockService } from './stock.service';

@Module({
  imports: [AppModule, RecipesModule],
  controllers: [OrdersController],
  providers: [OrdersService, StockService, Bank],
})
class CheckModule {}

async function main(): Promise<void> {
  const app = await NestFactory.create(CheckModule, { logger: ['error'], abortOnError: false });
  await app.listen(0, '127.0.0.1');
  const { port } = app.getHttpServer().address();
  const url = `http://127.0.0.1:${port}`;
  const locks = app.get(LockService);
  const held: string[] = [];
  locks.events.on('held', ({ key }) => held.push(key));
  await app.get(StockService).reserve({ sku: 'lamp', units: 1 });
  await app.get(StockService).count('lamp');
  await app.get(Bank).transfer('1', '2');
  equal(locks.storeName, 'redis');
  deepEqual(held.slice(0, 2), ['stock:lamp', 'stock:lamp']);
  equal(held.length >= 3, true);
  await checkFirstExample(url, locks);
  await checkRecipes(app, url);
  await app.close();
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
