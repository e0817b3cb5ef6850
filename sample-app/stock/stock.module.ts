import { Module } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { stockDirectory } from './stock-directory.js';
import { StockErrorFilter } from './stock-error.filter.js';
import { StockLedger } from './stock-ledger.js';
import { StockReport } from './stock-report.js';
import { StockController } from './stock.controller.js';
import { Stock } from './stock.js';

@Module({
  controllers: [StockController],
  providers: [
    { provide: Stock, useFactory: () => new Stock(new StockLedger(stockDirectory())) },
    { provide: APP_FILTER, useClass: StockErrorFilter },
    StockReport,
  ],
  exports: [Stock],
})
export class StockModule {}
