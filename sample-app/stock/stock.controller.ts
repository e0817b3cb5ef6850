import { Body, Controller, Get, Param, Put } from '@nestjs/common';
import { CurrentLock, DistributedLock, Lock } from 'nest-holdfast';
import { SetStockDto } from './set-stock.dto.js';
import { SkuPipe } from './sku.pipe.js';
import { Stock } from './stock.js';
import type { StockLevel } from './stock.js';

@Controller('stock')
export class StockController {
  constructor(private readonly stock: Stock) {}

  @Get(':sku')
  level(@Param('sku', SkuPipe) sku: string): Promise<StockLevel> {
    return this.stock.level(sku);
  }

  /** Waits for a running order of the article. A body that is not valid is refused before there is a lock. */
  @Put(':sku')
  @DistributedLock('stock:<request.params.sku>')
  async set(
    @Param('sku', SkuPipe) sku: string,
    @Body() { units }: SetStockDto,
    @CurrentLock() lock?: Lock,
  ): Promise<StockLevel> {
    return this.stock.set(sku, units, lock?.fencingToken);
  }
}
