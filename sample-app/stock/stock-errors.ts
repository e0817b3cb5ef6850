/** An answer to a customer. Express reads the `statusCode` by itself, Nest through `StockErrorFilter`. */
export abstract class StockError extends Error {
  abstract readonly statusCode: number;
}

export class SoldOutError extends StockError {
  readonly statusCode = 409;

  constructor(sku: string) {
    super(`${sku} is sold out`);
  }
}

/** The writer had lost its lock: a holder with a larger fencing token was there before it. Nothing was written. */
export class StaleWriteError extends StockError {
  readonly statusCode = 409;

  constructor(sku: string, fence: bigint) {
    super(`The stock of ${sku} was not changed: fencing token ${fence} is out of date`);
  }
}

export class InvalidSkuError extends StockError {
  readonly statusCode = 400;

  constructor(sku: string) {
    super(`"${sku}" is not an article: use a-z, 0-9 and "-"`);
  }
}
