/* oxlint-disable oxc/no-async-endpoint-handlers -- Express 5 hands their rejections to the error handler */
import express from 'express';
import type { ErrorRequestHandler, Express } from 'express';
import type { Lock, LockService } from 'nest-holdfast/core';
import { lockErrorHandler, lockRequest } from 'nest-holdfast/express';
import { checkedSku } from './stock/sku.js';
import type { Stock } from './stock/stock.js';

/** The same shop without Nest. Its keys are those of the Nest app, so on one Redis the two keep out of each other's way. */
export function expressApp(stock: Stock, locks: LockService): Express {
  const app = express();

  app.param('sku', (_req, _res, next, sku: string) => {
    checkedSku(sku); // before the lock
    next();
  });

  app.post('/orders/:sku', lockRequest('stock:<params.sku>', { locks }), async (req, res) => {
    const lock = res.locals.lock as Lock;
    res.status(201).json(await stock.sell(req.params.sku, lock.fencingToken));
  });

  app.get('/stock/:sku', async (req, res) => {
    res.json(await stock.level(req.params.sku));
  });

  app.use(lockErrorHandler(), answerWithStatus);
  return app;
}

/** Errors of the stock carry their status. */
const answerWithStatus: ErrorRequestHandler = (error, _req, res, next) => {
  const { statusCode, message } = error;
  if (!statusCode || res.headersSent) return next(error);
  res.status(statusCode).json({ statusCode, message });
};
