import { Injectable, Logger } from '@nestjs/common';
import { Cron, CronExpression } from '@nestjs/schedule';
import { OncePerTick } from 'nest-holdfast';
import { Stock } from './stock.js';

@Injectable()
export class StockReport {
  private readonly logger = new Logger(StockReport.name);

  constructor(private readonly stock: Stock) {}

  @Cron(CronExpression.EVERY_10_SECONDS)
  @OncePerTick('stock-report')
  async report(): Promise<void> {
    const levels = await this.stock.levels();
    const text = levels.map(({ sku, units }) => `${sku} ${units}`).join(', ');
    this.logger.log(`In stock: ${text || 'nothing'} (counted by process ${process.pid})`);
  }
}
