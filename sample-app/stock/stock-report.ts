import { Injectable, Logger } from '@nestjs/common';
import { Cron, CronExpression } from '@nestjs/schedule';
import { DistributedLock } from 'nest-holdfast';
import { Stock } from './stock.js';

@Injectable()
export class StockReport {
  private readonly logger = new Logger(StockReport.name);

  constructor(private readonly stock: Stock) {}

  /**
   * Once per tick, whatever the number of processes: the first one to come holds the lock for longer than their clocks
   * differ, and the others skip.
   */
  @Cron(CronExpression.EVERY_10_SECONDS)
  @DistributedLock('stock-report', { waitTimeout: 0, onTimeout: 'skip', minHold: 5_000 })
  async report(): Promise<void> {
    const levels = await this.stock.levels();
    const text = levels.map(({ sku, units }) => `${sku} ${units}`).join(', ');
    this.logger.log(`In stock: ${text || 'nothing'} (counted by process ${process.pid})`);
  }
}
