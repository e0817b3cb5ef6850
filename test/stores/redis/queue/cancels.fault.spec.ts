import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { CLIENTS, AppInstance, inLine } from '../../support/app-instance.js';
import { aRequest } from '../locks.js';
import { RedisServer } from '../../../support/servers/redis-server.js';
import { until } from '../../../support/until.js';
import { nothingLeft } from '../../../support/faults/left-behind.js';
import { seeded } from '../../../support/histories/history-random.js';

const REASON = new Error('the client went away');
/** Milliseconds within which waiters are cancelled. */
const SPAN = 500;
const SEED = Number(process.env['SEED'] ?? randomInt(2 ** 31));

describe.each([
  ...CLIENTS.map(([name, Client]) => [name, { Client }] as const),
  ['strict order', { localPassLimit: 0 }] as const,
])(`Of many waiters, with %s and SEED=${SEED},`, (_, options) => {
  let server: RedisServer;
  let holder: AppInstance;
  let own: AppInstance;
  let random: () => number;

  beforeEach(async () => {
    random = seeded(SEED);
    server = await RedisServer.start();
    holder = new AppInstance(server.url, options);
    own = new AppInstance(server.url, options);
    await own.locks.withLock('warm-up', async () => {});
  });

  afterEach(async () => {
    await Promise.all([holder, own].map((each) => each[Symbol.asyncDispose]()));
    await server.stop();
  });

  /** Has 9 of 10 cancelled at some moment. Resolves with the holders of the key, in their order. */
  async function cancelMost(
    count: number,
    wait: (signal: AbortSignal, done: () => void) => Promise<unknown>,
  ): Promise<number[]> {
    const order: number[] = [];
    const chosen = shuffled(count, random).slice(0, 0.9 * count);
    const cancels = Array.from({ length: count }, () => new AbortController());
    const ends = cancels.map(async ({ signal }, index) => {
      try {
        await wait(signal, () => void order.push(index));
      } catch (error) {
        expect(error).toBe(REASON);
        expect(chosen).toContain(index);
        expect(order).not.toContain(index);
      }
    });
    const moments = chosen.map(async (index) => {
      await sleep(random() * SPAN);
      cancels[index]!.abort(REASON);
    });
    await Promise.all([...ends, ...moments]);
    const skipped = cancels.flatMap((_each, index) => (order.includes(index) ? [] : [index]));
    expect(chosen).toEqual(expect.arrayContaining(skipped));
    return order;
  }

  async function nothingIsLeft(timers: number): Promise<void> {
    expect(await inLine(server, 'order:42')).toEqual([]);
    await nothingLeft(server);
    expect((own.redis as unknown as { commandQueue: unknown[] }).commandQueue).toHaveLength(0);
    await until(() => countTimers() <= timers, { what: 'no timer to be left' });
  }

  it.each([
    ['gives the key back', 0],
    ['runs out', SPAN / 2],
  ])('1,000 in one process, 900 are cancelled while the holder %s', async (_each, ttl) => {
    const timers = countTimers();
    const giveBack = await held(ttl);
    const order = cancelMost(1_000, (signal, done) =>
      own.locks.withLock('order:42', { signal }, async () => done()),
    );
    await giveBack();
    const served = await order;
    // In strict order all of them have a place on the server, and late heartbeats cost those in front theirs.
    if (!('localPassLimit' in options)) expect(served).toEqual(served.toSorted((a, b) => a - b));
    await nothingIsLeft(timers);
  });

  it.each([
    ['gives the key back', 0],
    ['runs out', SPAN / 2],
  ])('100 on the server, 90 are cancelled while the holder %s', async (_each, ttl) => {
    const timers = countTimers();
    const giveBack = await held(ttl);
    const order = cancelMost(100, async (signal, done) => {
      const lease = await own.store.acquire!(aRequest('order:42'), signal);
      done();
      await lease.release(); // false where the machine stood still for longer than the claim
    });
    await giveBack();
    expect(await order).toEqual((await order).toSorted((a, b) => a - b));
    await nothingIsLeft(timers);
  });

  /** A holder that gives the key back when half of the cancels were made, or lets it run out. */
  async function held(ttl: number): Promise<() => Promise<unknown>> {
    if (ttl > 0) {
      await server.command('SET', 'lock:order:42', 'foreign', 'PX', ttl);
      return async () => {};
    }
    const lock = await holder.locks.acquire('order:42');
    return async () => {
      await until(async () => (await inLine(server, 'order:42')).length > 0);
      await sleep(SPAN / 2);
      await lock.release();
    };
  }
});

function countTimers(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
}

function shuffled(count: number, random: () => number): number[] {
  const all = Array.from({ length: count }, (_, index) => ({ index, by: random() }));
  return all.toSorted((a, b) => a.by - b.by).map(({ index }) => index);
}
