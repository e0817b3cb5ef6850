import { SoldOutError } from '../stock/stock-errors.js';
import type { Stock } from '../stock/stock.js';

export const UNITS = 20;
export const ORDERS = 50;

/** What is known of a race so far. */
export interface RaceState {
  readonly isRunning: boolean;
  /** In stock at the start. */
  readonly units: number;
  readonly orders: number;
  readonly sold: number;
  /** Orders that were told that the article is sold out. */
  readonly soldOut: number;
  /** Orders that ended with another error. */
  readonly failed: number;
  /** What the stock says at the end. Missing before. */
  readonly left?: number;
}

/** Many orders at once for an article of which there are fewer units. */
export class Race {
  #state: RaceState;

  /** Sets the stock of `sku`, and calls `order` for each order. */
  constructor(stock: Stock, sku: string, order: (sku: string) => Promise<unknown>) {
    const counts = { sold: 0, soldOut: 0, failed: 0 };
    this.#state = { isRunning: true, units: UNITS, orders: ORDERS, ...counts };
    this.ended = this.#run(stock, sku, order);
  }

  /** Rejects when the stock cannot be set or read. */
  readonly ended: Promise<void>;

  get state(): RaceState {
    return this.#state;
  }

  async #run(stock: Stock, sku: string, order: (sku: string) => Promise<unknown>): Promise<void> {
    try {
      await stock.set(sku, UNITS);
      const one = async () => this.#count(await order(sku).then(() => 'sold', outcomeOf));
      await Promise.all(Array.from({ length: ORDERS }, one));
      const { units: left } = await stock.level(sku);
      this.#state = { ...this.#state, left };
    } finally {
      this.#state = { ...this.#state, isRunning: false };
    }
  }

  #count(outcome: 'sold' | 'soldOut' | 'failed'): void {
    this.#state = { ...this.#state, [outcome]: this.#state[outcome] + 1 };
  }
}

function outcomeOf(error: unknown): 'soldOut' | 'failed' {
  return error instanceof SoldOutError ? 'soldOut' : 'failed';
}
