import type { Lock } from 'nest-holdfast';
import { rejectionOf } from '../../../core/support/outcome.js';
import type { RedisServer } from '../../../support/servers/redis-server.js';
import { until } from '../../../support/until.js';
import { RedlockInstance, queueNodeOf, lineLengths } from '../support/redlock-instance.js';
import { RedlockNodes } from '../support/nodes.js';
import { lineLength } from '../../../support/redis-line.js';

const KEY = 'order:42';
/** Milliseconds: no key may be left, though none would expire for long. */
const TTL = 30_000;
/** Longer than a claim lives that has not been confirmed. */
const LONGER_THAN_A_CLAIM = 1_000;

describe('A caller who gives up the wait for a lock on five nodes', () => {
  let nodes: RedlockNodes;
  let holder: RedlockInstance;
  let waiter: RedlockInstance;
  let held: Lock;
  let canceller: AbortController;
  let waiting: Promise<Error>;
  let queueNode: RedisServer;

  beforeEach(async () => {
    nodes = await RedlockNodes.start();
    holder = await RedlockInstance.start(nodes, { service: { ttl: TTL } });
    waiter = await RedlockInstance.start(nodes, { service: { ttl: TTL } });
    await wait();
  });

  afterEach(async () => {
    await holder[Symbol.asyncDispose]();
    await waiter[Symbol.asyncDispose]();
    await nodes[Symbol.asyncDispose]();
  });

  async function wait(): Promise<void> {
    held = await holder.locks.acquire(KEY);
    await holder.settled();
    canceller = new AbortController();
    waiting = rejectionOf(waiter.locks.acquire(KEY, { signal: canceller.signal }));
    queueNode = nodes.servers[await queueNodeOf(nodes, KEY)]!;
  }

  async function cancelled(): Promise<void> {
    canceller.abort();
    expect(await waiting).toBe(canceller.signal.reason);
  }

  async function emptyQueue(): Promise<void> {
    await until(async () => (await lineLengths(nodes, KEY)).every((length) => length <= 0));
  }

  it('leaves the line, and the lock to its holder', async () => {
    await cancelled();
    await emptyQueue();
    expect(await nodes.having(KEY)).toHaveLength(5);
    expect(await held.release()).toBe(true);
    await nodes.nothingLeft();
  });

  it('leaves nothing where the queue node hangs, as soon as that goes on', async () => {
    queueNode.pause();
    await cancelled();
    queueNode.resume();
    await emptyQueue();
    expect(await held.release()).toBe(true);
    await nodes.nothingLeft();
  });

  it('leaves nothing where the queue node hands the lock over, and hangs before it hears of it', async () => {
    const released = held.release();
    queueNode.pause();
    await cancelled();
    queueNode.resume();
    await released;
    await nodes.nothingLeft();
  });

  it('leaves nothing where the queue node has died and comes back', async () => {
    await queueNode.kill();
    await cancelled();
    await emptyQueue();
    await queueNode.restart();
    await held.release();
    await nodes.nothingLeft();
  });

  it('leaves nothing at the moment in which the lock is free', async () => {
    await cancelled();
    await held.release();
    for (let round = 0; round < 40; round++) {
      const lock = await holder.locks.acquire(KEY);
      const stopper = new AbortController();
      const asked = waiter.locks.acquire(KEY, { signal: stopper.signal });
      const outcome = asked.then(
        (granted) => granted.release(),
        (error: unknown) => error,
      );
      await queueNodeOf(nodes, KEY);
      const released = lock.release();
      for (let turn = 0; turn < round % 10; turn++) await new Promise(setImmediate);
      stopper.abort();
      expect([true, stopper.signal.reason]).toContain(await outcome);
      await released;
      await nodes.nothingLeft();
    }
  });

  it('leaves nothing while it claims the other nodes, which hang', async () => {
    const others = nodes.servers.filter((server) => server !== queueNode);
    for (const server of others) server.pause();
    const released = held.release();
    await until(
      async () => Number(await queueNode.command('PTTL', `lock:${KEY}`)) > LONGER_THAN_A_CLAIM,
    );
    await until(async () => (await lineLengthAt(queueNode)) === 0);
    await cancelled();
    for (const server of others) server.resume();
    await released;
    await nodes.nothingLeft();
  });

  async function lineLengthAt(server: RedisServer): Promise<number> {
    return lineLength((...words) => server.command(...words), `lock:${KEY}`);
  }
});
