import { Controller, Get, HttpCode, Logger, Param, ParseEnumPipe, Post } from '@nestjs/common';
import { OrdersService } from '../orders/orders.service.js';
import { Stock } from '../stock/stock.js';
import { Race } from './race.js';
import type { RaceState } from './race.js';

const WAYS = { locked: 'locked', unlocked: 'unlocked' } as const;
type Way = keyof typeof WAYS;

/** Milliseconds for which an order is packed: long enough to watch the others wait. */
const PACKING = 100;

/** The races that the start page begins and shows. */
@Controller('races')
export class RacesController {
  private readonly logger = new Logger(RacesController.name);
  private readonly races = new Map<Way, Race>();

  constructor(
    private readonly stock: Stock,
    private readonly orders: OrdersService,
  ) {}

  /** The latest of each way. Missing: none has begun. */
  @Get()
  states(): Readonly<Partial<Record<Way, RaceState>>> {
    return Object.fromEntries([...this.races].map(([way, { state }]) => [way, state]));
  }

  /** Begins a race, unless one is under way. Answers with its state so far. */
  @Post(':way')
  @HttpCode(202)
  begin(@Param('way', new ParseEnumPipe(WAYS)) way: Way): RaceState {
    const current = this.races.get(way);
    if (current?.state.isRunning) return current.state;
    const race = new Race(this.stock, `lamp-${way}-${process.pid}`, (sku) =>
      way === 'locked' ? this.orders.place(sku, PACKING) : this.orders.placeUnlocked(sku, PACKING),
    );
    this.races.set(way, race);
    race.ended.catch((error: unknown) => this.logger.error(error));
    return race.state;
  }
}
