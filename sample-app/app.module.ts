import { Module, ValidationPipe } from '@nestjs/common';
import { APP_PIPE } from '@nestjs/core';
import { ScheduleModule } from '@nestjs/schedule';
import { DistributedLockModule } from 'nest-holdfast';
import { lockStorage } from './lock-storage.js';
import { OrdersModule } from './orders/orders.module.js';
import { StartModule } from './start/start.module.js';
import { StockModule } from './stock/stock.module.js';

@Module({
  imports: [
    DistributedLockModule.forRootAsync({
      useFactory: async () => ({
        ...(await lockStorage()),
        retryDelay: 20, // a sale takes some milliseconds; the default suits longer work
        retryJitter: 20,
      }),
    }),
    ScheduleModule.forRoot(),
    StockModule,
    OrdersModule,
    StartModule,
  ],
  providers: [{ provide: APP_PIPE, useClass: ValidationPipe }],
})
export class AppModule {}
