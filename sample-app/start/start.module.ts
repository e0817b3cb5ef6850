import { Module } from '@nestjs/common';
import { LockDashboardModule } from 'nest-holdfast/dashboard';
import { OrdersModule } from '../orders/orders.module.js';
import { StockModule } from '../stock/stock.module.js';
import { LocalGuard } from './local.guard.js';
import { RacesController } from './races.controller.js';
import { StartController } from './start.controller.js';

@Module({
  imports: [
    StockModule,
    OrdersModule,
    LockDashboardModule.forRoot({ path: 'locks', guards: [LocalGuard], actions: [] }),
  ],
  controllers: [StartController, RacesController],
})
export class StartModule {}
