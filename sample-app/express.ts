import type { AddressInfo } from 'node:net';
import { Redis } from 'ioredis';
import { LockService, MemoryLockStore, RedisLockStore } from 'nest-holdfast/core';
import { expressApp } from './express-app.js';
import { stockDirectory } from './stock/stock-directory.js';
import { StockLedger } from './stock/stock-ledger.js';
import { Stock } from './stock/stock.js';

const { REDIS_URL, PORT = '3000', HOST = '127.0.0.1' } = process.env;

const redis = REDIS_URL ? new Redis(REDIS_URL) : undefined;
redis?.on('error', (error) => console.error(`Redis: ${error.message}`));
const store = redis ? new RedisLockStore(redis) : new MemoryLockStore();
const locks = new LockService(store, { retryDelay: 20, retryJitter: 20 });
const stock = new Stock(new StockLedger(stockDirectory()));

const server = expressApp(stock, locks).listen(Number(PORT), HOST, (error) => {
  if (error) throw error;
  const { address, port } = server.address() as AddressInfo;
  console.log(`The Express app listens on http://${address}:${port}`);
});

process.once('SIGINT', () => void shutDown());
process.once('SIGTERM', () => void shutDown());

/** Never rejects. The store does not close a client that it was given. */
async function shutDown(): Promise<void> {
  server.close();
  await locks.close();
  redis?.disconnect();
}
