import { systemClock } from '../../../../lib/core/async/clock.js';
import {
  BEAT,
  HEARTBEAT,
  SLOWEST,
  lookTime,
  nextBeat,
} from '../../../../lib/stores/redis/lua/pace.js';
import { LEAVE, WAIT } from '../../../../lib/stores/redis/lua/queue-scripts.js';
import { type Ask, lapse, lineKey, lineLength, lineOf } from '../../../support/redis-line.js';
import { RedisServer } from '../../../support/servers/redis-server.js';
import { until } from '../../../support/until.js';
import { leftBehind } from '../../../support/faults/left-behind.js';
import { OwnClient } from '../locks.js';
import { AppInstance } from '../../support/app-instance.js';
import { ServerLog } from '../../support/server-log.js';

const KEY = 'order:42';
const LOCK = `lock:${KEY}`;
const KEYS = [LOCK, lineKey(LOCK), `{${LOCK}}:shared`];
const CLAIM = 1_000;
const LONG = 400;
/** Longer than any test. */
const LIFE = 600_000;
/** Milliseconds between two signs of life of the last in a long line. */
const SLOWEST_BEAT = SLOWEST * BEAT;

/** Others that stand in the line, and beat when they are told to. */
class Others {
  readonly #client: OwnClient;
  readonly #value: (index: number) => string;

  constructor(client: OwnClient, kind = '') {
    this.#client = client;
    this.#value = (index) => `others${kind}.${index}:host:1:2`;
  }

  async stand(from: number, to: number, life = HEARTBEAT): Promise<unknown[]> {
    const values = Array.from({ length: to - from }, (_each, index) => this.#value(from + index));
    const args = values.flatMap((value) => [value, CLAIM]);
    const keys = values.flatMap(() => KEYS);
    return WAIT.run(this.#client.redis, keys, [life, ...args], (reply) => reply as unknown[]);
  }

  leave(index: number): Promise<unknown> {
    const args = [this.#value(index), CLAIM];
    return LEAVE.run(this.#client.redis, KEYS, args, (reply) => reply);
  }
}

describe('In a long line on Redis', () => {
  let server: RedisServer;
  let client: OwnClient;
  let others: Others;
  const ask: Ask = (...words) => server.command(...words);

  beforeAll(async () => {
    server = await RedisServer.start();
    client = new OwnClient(server.url);
    others = new Others(client);
  });

  beforeEach(async () => {
    await client.redis.flushall();
    await client.redis.set(LOCK, 'foreign');
  });

  afterAll(async () => {
    await client[Symbol.asyncDispose]();
    await server.stop();
  });

  const now = async () => {
    const [seconds, micros] = await client.redis.time();
    return Number(seconds) * 1_000 + Number(micros) / 1_000;
  };

  it('those further back are taken for alive for longer', async () => {
    const before = Math.floor(await now());
    for (let from = 0; from < LONG; from += 100) await others.stand(from, from + 100);
    const after = await now();
    const line = await lineOf(ask, LOCK);
    const lives = (index: number) => [
      line[index]!.deadline - after,
      line[index]!.deadline - before,
    ];
    const expected = [
      [0, HEARTBEAT],
      [7, HEARTBEAT],
      [8, HEARTBEAT + BEAT],
      [LONG - 1, HEARTBEAT + SLOWEST_BEAT - BEAT],
    ] as const;
    for (const [index, life] of expected) {
      const [least, most] = lives(index) as [number, number];
      expect(least).toBeLessThanOrEqual(life);
      expect(most).toBeGreaterThanOrEqual(Math.floor(life));
    }
    expect(await client.redis.pttl(lineKey(LOCK))).toBeGreaterThan(HEARTBEAT);
  });

  it('those who are known to be dead do not slow down who lives behind them', async () => {
    await others.stand(0, 40, LIFE);
    for (const waiter of (await lineOf(ask, LOCK)).slice(0, 30)) await lapse(ask, LOCK, waiter);
    const behind = (inFront: number) => [0, -1, inFront];
    expect(await others.stand(39, 40, LIFE)).toEqual([behind(9)]);
    expect(await others.stand(5, 6, LIFE)).toEqual([behind(5)]); // the server does not count waiters so near the front
  });

  it('tells each its place, also after some of them were let in', async () => {
    const sharers = new Others(client, '*2');
    await using ear = new OwnClient(server.url);
    await ear.redis.subscribe('holdfast:others');
    await sharers.stand(0, 4);
    await client.redis.del(LOCK);
    const behind = (inFront: number) => [0, expect.any(Number), inFront];
    expect(await sharers.stand(0, 5)).toEqual([[1], [1], behind(0), behind(1), behind(2)]);
    expect((await lineOf(ask, LOCK)).map(({ value }) => value)).toEqual(
      [2, 3, 4].map((index) => `others*2.${index}:host:1:2`),
    );
  });

  it('one who comes to the front is called up, and beats as those there do', async () => {
    for (let from = 0; from < LONG; from += 100) await others.stand(from, from + 100);
    await using own = new AppInstance(server.url);
    const waiting = own.locks.acquire(KEY);
    await until(async () => (await lineLength(ask, LOCK)) === LONG + 1);
    const { value } = (await lineOf(ask, LOCK)).at(-1)!;
    await using log = await ServerLog.of(server);
    for (let index = 3; index < LONG; index++) await others.leave(index);
    expect(await log.take('publish')).toContainEqual(['publish', expect.any(String), `? ${value}`]);
    const hasBeaten = async () => {
      const [, , , waiter] = await lineOf(ask, LOCK);
      return waiter!.deadline < (await now()) + HEARTBEAT + 1;
    };
    await until(hasBeaten, { within: SLOWEST_BEAT / 4 }); // by itself it would not for a while yet
    await client.redis.del(LOCK);
    for (const index of [0, 1, 2]) await others.leave(index);
    await (await waiting).release();
    expect(await leftBehind(server)).toEqual([]);
  });

  it('one who beats nearly as often as those in front is not called up', async () => {
    await others.stand(0, 24);
    await using log = await ServerLog.of(server);
    for (let index = 0; index < 20; index++) await others.leave(index);
    expect(await log.take('publish')).toEqual([]);
  });

  it('all callers get the lock, and none waits for the dead in the middle', async () => {
    await client.redis.del(LOCK);
    await using holder = new AppInstance(server.url);
    const held = await holder.locks.acquire(KEY);
    const processes = Array.from({ length: 40 }, () => new AppInstance(server.url));
    const order: number[] = [];
    const done: Promise<unknown>[] = [];
    for (const [index, { locks }] of processes.entries()) {
      done.push(locks.withLock(KEY, async () => order.push(index)).catch(() => 'dead'));
      await until(async () => (await lineLength(ask, LOCK)) === index + 1);
    }
    const dead = [20, 21, 22, 35];
    for (const index of dead) processes[index]!.redis.disconnect();
    const channels = async () => (await ask('PUBSUB', 'CHANNELS', 'holdfast:*')) as string[];
    await until(async () => (await channels()).length === processes.length - dead.length);
    const line = await lineOf(ask, LOCK);
    await using log = await ServerLog.of(server);
    await held.release();
    const alive = [...processes.keys()].filter((index) => !dead.includes(index));
    await until(() => order.length === alive.length);
    expect(order.toSorted((a, b) => a - b)).toEqual(alive);
    const handedTo = (await log.take('set')).map(([, , value]) => value);
    for (const index of dead) expect(handedTo).not.toContain(line[index]!.value);
    for (const each of processes) await each[Symbol.asyncDispose]();
    await Promise.all(done);
    expect(await leftBehind(server)).toEqual([]);
  });

  it('nothing is left when the last one goes', async () => {
    await others.stand(0, 20);
    for (let index = 0; index < 20; index++) await others.leave(index);
    expect(await client.redis.keys('*')).toEqual([LOCK]);
  });
});

describe('The time between two signs of life', () => {
  const afterNow = (inFront: number) => nextBeat(inFront) - systemClock.now();
  const many = <T>(make: () => T) => Array.from({ length: 500 }, make);

  it.each([0, 1, 7])('is a third of a heartbeat with %i in front', (inFront) => {
    for (const time of many(() => afterNow(inFront))) {
      expect(time).toBeLessThanOrEqual(BEAT);
      expect(time).toBeGreaterThan(-BEAT / 2); // this machine may have stood still meanwhile
    }
  });

  it('is 30 s at most, and not the same for all', () => {
    const times = many(() => afterNow(100_000));
    expect(Math.max(...times)).toBeLessThanOrEqual(SLOWEST_BEAT);
    expect(Math.min(...times)).toBeGreaterThan(SLOWEST_BEAT / 2);
    expect(new Set(times.map((time) => Math.round(time / BEAT))).size).toBeGreaterThan(2);
  });

  it('ends early at the end of a ttl, for those in front alone', () => {
    expect(lookTime(100, 7)).toBeLessThan(lookTime(100, 8));
    expect(lookTime(100, 8)).toBe(Infinity);
    expect(lookTime(-1, 0)).toBe(Infinity);
  });
});
