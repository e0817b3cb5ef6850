import { readFileSync, writeFileSync } from 'node:fs';
import Database from 'libsql';
import { LockService } from 'nest-holdfast';
import { SqlLockStore } from 'nest-holdfast/sql';
import { openChannel } from '../processes/worker-channel.js';

export type Order = { hold: string } | { count: number; file: string };
export type Answer = 'ready' | 'held' | 'lost' | 'counted';

/** Holds a key, or counts in a file under one, as it is told. */
function main(path: string, ttl: number): void {
  const channel = openChannel<Answer, Order>();
  const store = new SqlLockStore({ sqlite: new Database(path) });
  const polling = { retryDelay: 5, retryJitter: 5 };
  const locks = new LockService(store, { ttl, waitTimeout: 30_000, ...polling });
  locks.events.on('lost', () => channel.send('lost'));
  const hold = async (key: string) => {
    await locks.acquire(key);
    channel.send('held');
  };
  const count = async (times: number, file: string) => {
    for (let time = 0; time < times; time++) {
      await locks.withLock('counter', async () => {
        const before = Number(readFileSync(file, 'utf8'));
        await new Promise((resolve) => setTimeout(resolve, 1));
        writeFileSync(file, String(before + 1));
      });
    }
    channel.send('counted');
  };
  channel.onMessage((order) => {
    void ('hold' in order ? hold(order.hold) : count(order.count, order.file));
  });
  channel.send('ready');
}

main(process.argv[2]!, Number(process.argv[3]));
