import { NestFactory } from '@nestjs/core';
import { OrdersModule, checkOrders } from './orders-app.js';

async function main(): Promise<void> {
  const app = await NestFactory.create(OrdersModule, { logger: ['error', 'warn'] });
  try {
    await checkOrders(app);
  } finally {
    await app.close();
  }
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
