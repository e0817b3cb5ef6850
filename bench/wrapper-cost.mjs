// What the library costs on top of the two commands that no lock on Redis can do without: SET NX PX and a
// compare-and-delete by EVALSHA, through ioredis on the same connection.
import { createHash, randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { NestFactory } from '@nestjs/core';
import { paired } from './lib/paired.mjs';
import { connect, startRedis } from './lib/redis.mjs';

const require = createRequire(import.meta.url);
const { DistributedLockModule, LockService } = require('nest-holdfast');
const { OrdersService } = require('./decorated-service.cjs');

const RELEASE = `if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0`;
const RELEASE_SHA = createHash('sha1').update(RELEASE).digest('hex');

const quick = process.argv.includes('--quick');
const rounds = quick ? 8 : 24;
const redis = await startRedis();
const client = await connect(redis.port);
await client.script('LOAD', RELEASE);

class AppModule {}
const module = {
  module: AppModule,
  imports: [DistributedLockModule.forRoot({ redis: client })],
  providers: [OrdersService],
};
const app = await NestFactory.createApplicationContext(module, { logger: false });
const orders = app.get(OrdersService);
const locks = app.get(LockService);

const raw = {
  name: 'raw ioredis',
  cycle: async (index) => {
    const token = randomUUID();
    await client.set(`lock:${index}`, token, 'PX', 30_000, 'NX');
    await client.evalsha(RELEASE_SHA, 1, `lock:${index}`, token);
  },
};
const candidates = [
  { name: '@DistributedLock', cycle: (index) => orders.pay(index) },
  { name: 'withLock', cycle: (index) => locks.withLock(`order:${index}`, async () => {}) },
];

console.log(`Node ${process.version}, Redis on loopback, ${rounds} rounds of 200 ms; medians`);
for (const concurrency of [1, 16, 64, 256]) {
  const rows = await paired(raw, candidates, { concurrency, rounds, ms: 200 });
  console.table(
    Object.fromEntries(
      rows.map(({ name, rate, base, ratio, spread }) => [
        name,
        {
          concurrency,
          'cycles/s': Math.round(rate),
          'raw cycles/s': Math.round(base),
          'rate / raw': ratio.toFixed(2),
          'cost / raw': (1 / ratio).toFixed(2),
          'ratio min…max': spread.map((each) => each.toFixed(2)).join('…'),
        },
      ]),
    ),
  );
}
console.table(await wireCosts());
await app.close();
client.disconnect();
await redis.stop();

/** Commands and socket writes of one cycle, counted at the client. */
async function wireCosts() {
  const costs = {};
  for (const { name, cycle } of [raw, ...candidates]) {
    const before = count(client);
    for (let index = 0; index < 100; index++) await cycle(index);
    const { commands, writes } = before.stop();
    costs[name] = { 'commands per cycle': commands / 100, 'writes per cycle': writes / 100 };
  }
  return costs;
}

function count(redisClient) {
  const { stream } = redisClient;
  const counts = { commands: 0, writes: 0 };
  const { sendCommand } = redisClient;
  const { _write, _writev } = stream;
  redisClient.sendCommand = function (...args) {
    counts.commands++;
    return sendCommand.apply(this, args);
  };
  stream._write = function (...args) {
    counts.writes++;
    return _write.apply(this, args);
  };
  stream._writev = function (...args) {
    counts.writes++;
    return _writev.apply(this, args);
  };
  counts.stop = () => {
    Object.assign(redisClient, { sendCommand });
    Object.assign(stream, { _write, _writev });
    return counts;
  };
  return counts;
}
