import { setTimeout as sleep } from 'node:timers/promises';
import type { LockService } from 'nest-holdfast';
import { RedisServer } from '../../../../support/servers/redis-server.js';
import { TcpProxy } from '../../../../support/processes/tcp-proxy.js';
import { leftBehind } from '../../../../support/faults/left-behind.js';
import { CLIENTS, AppInstance, inLine, standing } from '../../../support/app-instance.js';

const KEY = 'order:42';
/** Milliseconds. Each caller has its own ttl, by which its request is known. */
const FIRST_TTL = 60_000;

describe.each(CLIENTS)('localPassLimit: 0, with %s,', (_, Client) => {
  let server: RedisServer;
  let processes: AppInstance[];

  beforeEach(async () => {
    server = await RedisServer.shared();
    processes = Array.from(
      { length: 3 },
      () => new AppInstance(server.url, { Client, localPassLimit: 0 }),
    );
  });

  afterEach(async () => {
    await Promise.all(processes.map((each) => each[Symbol.asyncDispose]()));
    await server.stop();
  });

  /** Lets callers line up one after the other, by the numbers of their processes. */
  async function lineUp(numbers: readonly number[], call: (locks: LockService) => Promise<void>) {
    const done: Promise<void>[] = [];
    for (const number of numbers) {
      done.push(call(processes[number]!.locks));
      await standing(server, KEY, done.length);
    }
    return done;
  }

  it('serves the callers of all processes in the order in which they came', async () => {
    const held = await processes[0]!.locks.acquire(KEY);
    const numbers = [1, 1, 2, 1, 2, 2, 0, 0, 1, 2];
    const served: number[] = [];
    const tokens: bigint[] = [];
    let next = 0;
    const done = await lineUp(numbers, (locks) => {
      const place = next++;
      return locks.withLock(KEY, async ({ fencingToken }) => {
        served.push(place);
        tokens.push(fencingToken);
      });
    });
    await held.release();
    await Promise.all(done);
    expect(served).toEqual(numbers.map((_each, place) => place));
    tokens.reduce((before, token) => {
      expect(token).toBeGreaterThan(before);
      return token;
    }, held.fencingToken);
    expect(await leftBehind(server)).toEqual([]);
  });

  it('keeps it for those who ask before the server has answered the first one', async () => {
    await server.command('SCRIPT', 'FLUSH');
    const proxy = await TcpProxy.start(server.port);
    await using far = new AppInstance(proxy.url, { Client, localPassLimit: 0 });
    const held = await processes[0]!.locks.acquire(KEY);
    proxy.replies.delay(50);
    const callers = callersByToken(far);
    const done: Promise<void>[] = [];
    for (const start = performance.now(); performance.now() < start + 500;) {
      done.push(far.locks.withLock(KEY, { ttl: FIRST_TTL + done.length }, async () => {}));
      await sleep(1); // so that each has a call of its own
    }
    await standing(server, KEY, done.length);
    const order = (await inLine(server, KEY)).map(({ value }) => callers.get(tokenOf(value)));
    expect(misplaced(order)).toBe(0);
    proxy.replies.pass();
    await held.release();
    await Promise.all(done);
    await proxy.stop();
  });

  it('lets a caller leave its place, and those behind move up', async () => {
    const held = await processes[0]!.locks.acquire(KEY);
    const served: number[] = [];
    const stopper = new AbortController();
    let next = 0;
    const done = await lineUp([1, 1, 2, 1], (locks) => {
      const place = next++;
      const signal = place === 1 ? stopper.signal : undefined;
      return locks.withLock(KEY, { signal }, async () => void served.push(place));
    });
    stopper.abort(new Error('enough'));
    await expect(done[1]).rejects.toThrow('enough');
    await standing(server, KEY, 3);
    await held.release();
    await Promise.all(done.toSpliced(1, 1));
    expect(served).toEqual([0, 2, 3]);
  });

  it('has one place for each caller of several keys, in the line of the one that was refused', async () => {
    const held = await processes[0]!.locks.acquire(KEY);
    const served: number[] = [];
    let next = 0;
    const done = await lineUp([1, 1, 2, 1], (locks) => {
      const place = next++;
      const keys = place % 2 ? [KEY, 'other'] : [KEY];
      return locks.withLock(keys, async () => void served.push(place));
    });
    await held.release();
    await Promise.all(done);
    expect(new Set(served)).toEqual(new Set([0, 1, 2, 3]));
    expect(await leftBehind(server)).toEqual([]);
  });

  it('lets readers that stand together in together, and serves a writer between them in its order', async () => {
    const held = await processes[0]!.locks.acquire(KEY);
    const inside = new Set<number>();
    const seen: number[][] = [];
    let next = 0;
    const done = await lineUp([1, 1, 2, 2, 1], (locks) => {
      const place = next++;
      const mode = place === 3 ? 'write' : 'read';
      return locks.withLock(KEY, { mode }, async () => {
        inside.add(place);
        if (place < 3) while (inside.size < 3 && !seen.length) await processes[1]!.redis.ping();
        seen.push([...inside]);
        inside.delete(place);
      });
    });
    await held.release();
    await Promise.all(done);
    expect(new Set(seen[0])).toEqual(new Set([0, 1, 2]));
    expect(seen.slice(-2)).toEqual([[3], [4]]);
  });

  it('counts waiters, and refuses one too many', async () => {
    await processes[0]!.locks.acquire(KEY);
    const { locks } = processes[1]!;
    const options = { maxWaiting: 2, waitTimeout: 60_000 };
    const waiting = [1, 2].map(() => locks.acquire(KEY, options));
    for (const each of waiting) each.catch(() => {});
    await standing(server, KEY, 2);
    await expect(locks.acquire(KEY, options)).rejects.toMatchObject({ code: 'LOCK_QUEUE_FULL' });
    await locks.close();
    await standing(server, KEY, 0);
  });
});

/** The callers of `own` that wait, by the tokens of their requests. */
function callersByToken({ store }: AppInstance): Map<string, number> {
  const callers = new Map<string, number>();
  const acquire = store.acquire!.bind(store);
  jest.spyOn(store, 'acquire').mockImplementation((request, signal) => {
    callers.set(request.token, request.ttl - FIRST_TTL);
    return acquire(request, signal);
  });
  return callers;
}

function tokenOf(value: string): string {
  return /\.([^:]+):/.exec(value)![1]!;
}

/** How many stand behind one that asked later. */
function misplaced(order: readonly (number | undefined)[]): number {
  return order.filter((caller, at) => at > 0 && caller! < order[at - 1]!).length;
}
