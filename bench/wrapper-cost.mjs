// What the decorated method and withLock cost on top of the two commands that no lock on Redis can do without: SET NX PX and a
// compare-and-delete by EVALSHA, on the very same connection.
import { createRequire } from 'node:module';
import { connect } from './lib/clients.mjs';
import { options } from './lib/options.mjs';
import { paired } from './lib/paired.mjs';
import { rawCycle } from './lib/plain-cycles.mjs';
import { projectRequire } from './lib/project.mjs';
import { publish } from './lib/results.mjs';
import { startRedis } from './lib/servers.mjs';
import { watchPorts, wire } from './lib/wire.mjs';

const option = options(
  { concurrency: [1, 16, 64, 256], rounds: 80, ms: 40, warmUp: 1_500 },
  { concurrency: [1, 64], rounds: 4, ms: 60, warmUp: 60 },
);
const makeOrdersService = createRequire(import.meta.url)('./decorated-service.cjs');
const { Redis } = projectRequire('ioredis');
const { NestFactory } = projectRequire('@nestjs/core');
const { DistributedLockModule, LockService } = projectRequire('nest-holdfast');
const OrdersService = makeOrdersService(projectRequire);

const server = await startRedis();
watchPorts(server.port);
const client = await connect(Redis, server.port);
const root = {
  module: class AppModule {},
  imports: [DistributedLockModule.forRoot({ redis: client })],
  providers: [OrdersService],
};
const app = await NestFactory.createApplicationContext(root, { logger: false });
const orders = app.get(OrdersService);
const locks = app.get(LockService);

const raw = { name: 'raw ioredis', cycle: await rawCycle(client) };
const candidates = [
  { name: '@DistributedLock', cycle: (index) => orders.pay(index) },
  { name: 'withLock', cycle: (index) => locks.withLock(`order:${index}`, async () => {}) },
];
const costs = await wireCosts();

for (const concurrency of option.concurrency) {
  const rows = await paired(raw, candidates, { ...option, concurrency });
  publish(option.out, {
    id: `decorated-${concurrency}`,
    title: `The decorated call, concurrency ${concurrency} (${option.rounds} rounds of ${option.ms} ms)`,
    columns: [
      'name',
      'cycles/s',
      'raw cycles/s',
      'rate/raw',
      'cost/raw',
      'ratio min…max',
      'commands',
      'writes',
    ],
    rows: rows.map(({ name, rate, base, ratio, spread }) => ({
      name,
      'cycles/s': rate,
      'raw cycles/s': base,
      'rate/raw': ratio,
      'cost/raw': 1 / ratio,
      'ratio min…max': spread.map((each) => each.toFixed(2)).join('…'),
      ...costs[name],
    })),
    concurrency,
  });
}
await app.close();
client.disconnect();
await server.stop();
process.exit(0);

/** Commands and socket writes of one cycle that is alone on its connection. */
async function wireCosts() {
  const costs = {};
  for (const { name, cycle } of candidates) {
    await cycle(0);
    const before = { ...wire };
    for (let index = 0; index < 100; index++) await cycle(index);
    const commands = (wire.commands - before.commands) / 100;
    costs[name] = { commands, writes: (wire.writes - before.writes) / 100 };
  }
  return costs;
}
