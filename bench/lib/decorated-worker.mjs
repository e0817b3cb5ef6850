// A process of wrapper-cost.mjs: one way to lock, and the raw commands on the very same connection.
import { createRequire } from 'node:module';
import { connect } from './clients.mjs';
import { cyclesPerSecond, paired } from './paired.mjs';
import { rawCycle } from './plain-cycles.mjs';
import { projectRequire } from './project.mjs';
import { answer } from './tasks.mjs';
import { watchPorts, wire } from './wire.mjs';

const makeOrdersService = createRequire(import.meta.url)('../decorated-service.cjs');
const { Redis } = projectRequire('ioredis');
const { NestFactory } = projectRequire('@nestjs/core');
const { DistributedLockModule, LockService } = projectRequire('nest-holdfast');

const CYCLES = {
  '@DistributedLock': (app, OrdersService) => {
    const orders = app.get(OrdersService);
    return (index) => orders.pay(index);
  },
  withLock: (app) => {
    const locks = app.get(LockService);
    return (index) => locks.withLock(`order:${index}`, async () => {});
  },
};
let cycle;
let raw;

answer({
  /** Resolves with what a cycle costs that is alone on its connection. */
  async setUp({ name, port }) {
    watchPorts(port);
    const client = await connect(Redis, port);
    const OrdersService = makeOrdersService(projectRequire);
    const root = {
      module: class AppModule {},
      imports: [DistributedLockModule.forRoot({ redis: client })],
      providers: [OrdersService],
    };
    const app = await NestFactory.createApplicationContext(root, { logger: false });
    cycle = CYCLES[name](app, OrdersService);
    raw = await rawCycle(client);
    return wireCosts();
  },

  /** Until the code is compiled. */
  async warmUp({ concurrency, ms }) {
    for (const each of [raw, cycle]) await cyclesPerSecond(each, concurrency, ms);
  },

  pair: (request) => paired(cycle, raw, request),
});

async function wireCosts() {
  await cycle(0);
  const before = { ...wire };
  for (let index = 0; index < 100; index++) await cycle(index);
  const commands = (wire.commands - before.commands) / 100;
  return { commands, writes: (wire.writes - before.writes) / 100 };
}
