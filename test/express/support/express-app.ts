import express5 from 'express';
import type { Express, NextFunction, Request, Response } from 'express';
import express4 from 'express4';
import { LockService } from 'nest-holdfast/core';
import type { AcquireRequest, Lease } from 'nest-holdfast/core';
import { MemoryLockStore } from 'nest-holdfast/core';
import { FakeClock } from 'nest-holdfast/testing';

/** Both versions that are supported, for `describe.each`. */
export const VERSIONS = [
  { version: 'Express 4', express: express4 },
  { version: 'Express 5', express: express5 },
];

/** A store in memory that can be made to fail. */
export class FailingStore extends MemoryLockStore {
  failure: Error | undefined;

  override async tryAcquire(request: AcquireRequest): Promise<Lease | undefined> {
    if (this.failure) throw this.failure;
    return super.tryAcquire(request);
  }
}

/** An application, the locks behind it, and `others`: a process that it competes with. */
export function around(express: typeof express5) {
  const clock = new FakeClock();
  const store = new FailingStore(clock);
  const options = { clock, waitTimeout: 0, retryDelay: 10, retryJitter: 0 };
  const locks = new LockService(store, options);
  const others = new LockService(store, options);
  const app: Express = express();
  app.use(express.json());
  return { app, clock, store, locks, others, express };
}

/** Answers with what is locked. */
export function tellKeys(_request: Request, response: Response): void {
  response.json(response.locals['lock'].keys);
}

/** Answers with the fields of the error, which an application without error handlers would not. */
export function tellError(
  error: Error & Record<string, unknown>,
  _request: Request,
  response: Response,
  _next: NextFunction,
): void {
  const { name, message, status, statusCode, headers, code, expose, publicMessage } = error;
  const forClients = { status, statusCode, headers, expose, publicMessage };
  response.status(418).json({ name, message, code, ...forClients });
}
