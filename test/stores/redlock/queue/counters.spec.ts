import type { Lock } from 'nest-holdfast';
import { watch } from '../../../core/support/outcome.js';
import type { RedisServer } from '../../../support/servers/redis-server.js';
import { until } from '../../../support/until.js';
import type { QueueNode } from '../support/queue-node.js';
import { TTL as LINE_TTL, except, line } from '../support/queue-quorum.js';
import { RedlockInstance, Witness, queueNodeOf } from '../support/redlock-instance.js';
import { RedlockNodes } from '../support/nodes.js';
import { settled } from '../support/stub-quorum.js';

const KEY = 'order:42';
/** Milliseconds: longer than any call here waits, so that a key which is left behind refuses the next call. */
const TTL = 30_000;
const WAIT = { waitTimeout: 10_000 };

describe('A lock on five nodes, where the counter of the queue node is beyond its fencing token,', () => {
  let nodes: RedlockNodes;
  let own: RedlockInstance;
  let other: RedlockInstance;
  let queueNode: RedisServer;

  beforeEach(async () => {
    nodes = await RedlockNodes.start();
    own = await RedlockInstance.start(nodes, { service: { ttl: TTL } });
    other = await RedlockInstance.start(nodes, { service: { ttl: TTL } });
    const held = await own.locks.acquire(KEY);
    const waiting = other.locks.withLock(KEY, async () => undefined);
    queueNode = nodes.servers[await queueNodeOf(nodes, KEY)]!;
    await held.release();
    await waiting;
    await nodes.nothingLeft();
  });

  afterEach(async () => {
    await own[Symbol.asyncDispose]();
    await other[Symbol.asyncDispose]();
    await nodes[Symbol.asyncDispose]();
  });

  /** The trace of failed claims of others: each raises the counter to the time of day. */
  async function raiseCounter({ fencingToken }: Lock): Promise<void> {
    const counter = `${fencingToken + 1_000_000n} of-others r`;
    await queueNode.command('SET', `{lock:${KEY}}:fence`, counter, 'EX', 60);
  }

  /** Others have the key at the queue node, and raise its counter before they give it back. */
  async function grantedLate(): Promise<Lock> {
    await queueNode.command('SET', `lock:${KEY}`, 'of-others');
    const held = await own.locks.acquire(KEY);
    await raiseCounter(held);
    await queueNode.command('DEL', `lock:${KEY}`);
    return held;
  }

  async function granted(): Promise<Lock> {
    const held = await own.locks.acquire(KEY);
    await own.settled();
    await raiseCounter(held);
    return held;
  }

  it.each([
    ['before it granted the key', grantedLate],
    ['since', granted],
  ])('%s, goes to all who wait, and is nowhere left', async (_, acquired) => {
    const held = await acquired();
    await held.extend(TTL); // nodes that have not granted it yet are asked again
    await until(async () => (await nodes.having(KEY)).length === nodes.servers.length);
    const witness = new Witness();
    const waiting = [other, own].map(({ locks }) =>
      locks.withLock(KEY, WAIT, (lock) => witness.watch(lock)),
    );
    await queueNodeOf(nodes, KEY);
    await held.release();
    await Promise.all(waiting);
    witness.confirm(2);
    expect(witness.tokens[0]).toBeGreaterThan(held.fencingToken);
    await nodes.nothingLeft();
  });
});

describe('A lock on five nodes that cannot be handed off with a larger fencing token', () => {
  /** Five nodes, and the one at which callers stand in line. */
  async function quorum() {
    const own = line();
    const [first, second] = [1, 2].map(() => watch(own.locks.acquire(KEY)));
    await settled();
    await first!.value!.release();
    await settled();
    await second!.value!.release();
    return { ...own, queueNode: own.nodes.find(({ passes }) => passes === 1)! };
  }

  /** As a kind of store that has fencing tokens, and grants what it is asked for only. */
  function withoutRaise(node: QueueNode): void {
    const tryAcquire = node.tryAcquire.bind(node);
    node.tryAcquire = async (request) => {
      const lease = await tryAcquire(request);
      delete lease?.raiseFencing;
      return lease;
    };
  }

  it('because the counter of the queue node is beyond it, is released to those who wait there', async () => {
    const { locks, nodes, queueNode } = await quorum();
    const theirs = await queueNode.occupy(KEY);
    const lock = await locks.acquire(KEY);
    await queueNode.count(lock.fencingToken + 1_000_000n);
    await theirs.release();
    await lock.extend(LINE_TTL);
    await settled();
    expect(await queueNode.holder(KEY)).toBe(await nodes.find((node) => node !== queueNode)!.holder(KEY)); // prettier-ignore
    const next = watch(locks.acquire(KEY));
    expect(await lock.release()).toBe(true);
    await settled();
    expect(queueNode.passes).toBe(1);
    await queueNode.handOff();
    await settled();
    expect(next.value?.isHeld).toBe(true);
  });

  it('because most nodes cannot raise theirs, is released, and not lost', async () => {
    const { locks, nodes, queueNode } = await quorum();
    except(nodes, queueNode).slice(0, 3).forEach(withoutRaise);
    const lock = await locks.acquire(KEY);
    const next = watch(locks.acquire(KEY));
    expect(await lock.release()).toBe(true);
    await settled();
    await queueNode.handOff();
    await settled();
    expect(next.value?.isHeld).toBe(true);
  });
});
