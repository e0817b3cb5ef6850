import { LockUnsupportedError, type Lock } from 'nest-holdfast';
import { RedisServer } from '../../../support/servers/redis-server.js';
import { until } from '../../../support/until.js';
import { RedisLocks, aRequest } from '../locks.js';

let server: RedisServer;
let key: string;
let keys = 0;

beforeAll(async () => {
  server = await RedisServer.start();
});

afterAll(() => server.stop());

beforeEach(() => {
  key = `order:${++keys}`;
});

/** Its channel is open: it has waited once. */
async function listening(options = {}): Promise<RedisLocks> {
  const process = new RedisLocks(server.url, options);
  const other = new RedisLocks(server.url);
  const held = await other.locks.acquire(`${key}:other`);
  const waiting = process.locks.acquire(`${key}:other`);
  await until(async () => (await server.command('PUBSUB', 'CHANNELS', 'holdfast:*') as unknown[]).length > 0); // prettier-ignore
  await held.release();
  await (await waiting).release();
  await other[Symbol.asyncDispose]();
  return process;
}

/** Raises the counter that all locks of the server may share, as grants of other locks do. */
async function others(count = 1): Promise<void> {
  const all = (await server.command('KEYS', '*:fence')) as string[];
  const now = Date.now() * 1_000 + count;
  for (const name of all) await server.command('SET', name, String(now));
}

const value = () => server.command('GET', `lock:${key}`) as Promise<string | null>;

/** The fencing token of the next holder. */
async function nextToken(process: RedisLocks): Promise<bigint> {
  const next = await process.locks.acquire(key, { waitTimeout: 5_000 });
  try {
    return next.fencingToken;
  } finally {
    await next.release();
  }
}

describe('A holder on Redis', () => {
  it('hears by a message that its lock was taken, and believes it no longer', async () => {
    await using holder = await listening({ ttl: 60_000 });
    await using operator = new RedisLocks(server.url);
    const lock = await holder.locks.acquire(key);
    const { fencingToken } = lock;
    const eviction = await operator.locks.evict(key, { fencingToken, grace: 0 });
    expect(eviction).toMatchObject({ evicted: true, outcome: 'taken', tokenBefore: fencingToken });
    await until(() => lock.signal.aborted);
    expect(lock.signal.reason).toMatchObject({ code: 'LOCK_LOST', reason: 'revoked' });
    expect(await value()).toBeNull();
    const next = await nextToken(operator);
    expect(eviction.tokenAfter! > fencingToken).toBe(true);
    expect(next > eviction.tokenAfter!).toBe(true);
  });

  it('listens once it has extended its lock, also if it never waited', async () => {
    await using holder = new RedisLocks(server.url, { ttl: 600 });
    await using operator = new RedisLocks(server.url);
    const lock = await holder.locks.acquire(key);
    const channels = () => server.command('PUBSUB', 'CHANNELS', 'holdfast:*') as Promise<unknown[]>;
    await until(async () => (await channels()).length > 0);
    const { fencingToken } = lock;
    await operator.locks.evict(key, { fencingToken, grace: 0 });
    await until(() => lock.signal.aborted);
    expect(lock.signal.reason).toMatchObject({ reason: 'revoked' });
  });

  it('loses the lock at its next extension where no message reaches it', async () => {
    await using holder = new RedisLocks(server.url);
    await using operator = new RedisLocks(server.url);
    const lock = await holder.locks.acquire(key);
    await operator.locks.evict(key, { fencingToken: lock.fencingToken, grace: 0 });
    await expect(lock.extend(30_000)).rejects.toMatchObject({ code: 'LOCK_LOST', reason: 'gone' });
  });

  it('that is asked has the key until its work has ended', async () => {
    await using holder = await listening();
    await using operator = new RedisLocks(server.url);
    const lock = await holder.locks.acquire(key);
    const { fencingToken } = lock;
    const evicted = operator.locks.evict(key, { fencingToken, grace: 60_000 });
    await until(() => lock.signal.aborted);
    await until(async () => (await value())!.includes(`!${fencingToken}:`));
    expect(await operator.locks.tryAcquire(key)).toBeUndefined();
    expect((await operator.locks.inspect(key))!.remaining).toBeGreaterThan(50_000);
    await lock.release();
    expect(await evicted).toMatchObject({ evicted: true, outcome: 'released', tokenBefore: fencingToken }); // prettier-ignore
    expect(await value()).toBeNull();
  });

  it('that ignores it loses the key after the grace', async () => {
    await using holder = await listening();
    await using operator = new RedisLocks(server.url);
    const lock = await holder.locks.acquire(key);
    const { fencingToken } = lock;
    await others();
    const eviction = await operator.locks.evict(key, { fencingToken, grace: 500 });
    expect(eviction).toMatchObject({ evicted: true, outcome: 'taken' });
    expect((await nextToken(operator)) > eviction.tokenAfter!).toBe(true);
    expect(await lock.release()).toBe(false);
  });

  it('of the same process and service is evicted, too', async () => {
    await using process = new RedisLocks(server.url);
    const lock = await process.locks.acquire(key);
    await process.locks.evict(key, { fencingToken: lock.fencingToken, grace: 0 });
    expect(lock.signal.reason).toMatchObject({ reason: 'revoked' });
  });

  it('that hands the lock off inside its process does so no more', async () => {
    await using holder = await listening();
    await using operator = new RedisLocks(server.url);
    const lock = await holder.locks.acquire(key);
    const second = holder.locks.acquire(key);
    await lock.release();
    const passed = await second; // has a block of tokens
    const third = holder.locks.acquire(key);
    const { tokenAfter } = await operator.locks.evict(key, { fencingToken: passed.fencingToken, grace: 0 }); // prettier-ignore
    await until(() => passed.signal.aborted);
    expect(tokenAfter! > passed.fencingToken + 64n).toBe(true);
    await passed.release();
    expect((await third).fencingToken > tokenAfter!).toBe(true);
    expect(await value()).toContain('.');
    await (await third).release();
  });
});

describe('A waiter on Redis', () => {
  it('has the key right after it was taken, and no other caller in between', async () => {
    await using holder = new RedisLocks(server.url);
    await using operator = new RedisLocks(server.url);
    await using waiter = await listening();
    await using stranger = new RedisLocks(server.url);
    const lock = await holder.locks.acquire(key);
    const waiting = waiter.locks.acquire(key);
    await until(async () => (await operator.locks.inspect(key))?.waiterCount === 1);
    const over = new AbortController();
    let stolen = 0;
    const polls = (async () => {
      while (!over.signal.aborted) if (await stranger.redis.set(`lock:${key}`, 'stranger', 'PX', 1, 'NX')) stolen++;
    })(); // prettier-ignore
    const { tokenAfter } = await operator.locks.evict(key, { fencingToken: lock.fencingToken, grace: 0 }); // prettier-ignore
    const next = await waiting;
    over.abort();
    await polls;
    expect(stolen).toBe(0);
    expect(next.fencingToken > tokenAfter!).toBe(true);
    await next.release();
  });
});

describe('On Redis, an eviction by the token of an earlier holder', () => {
  it('touches neither the next one nor its claim', async () => {
    await using process = await listening();
    await using operator = new RedisLocks(server.url);
    const first = await process.locks.acquire(key);
    const { fencingToken } = first;
    await first.release();
    const claim = aRequest(key, 900);
    await server.command('SET', `lock:${key}`, `abc.${claim.token}:host:1:2`, 'PX', '900');
    const refused = await operator.store.evict({ ...aRequest(key), fencingToken });
    expect(refused.state).toBe('unconfirmed');
    expect(await value()).toContain(claim.token);
    await server.command('DEL', `lock:${key}`);
    const next = await process.locks.acquire(key);
    const late = await operator.locks.evict(key, { fencingToken, grace: 0 });
    expect(late).toMatchObject({ evicted: false, tokenBefore: next.fencingToken });
    await next.extend(30_000);
    await next.release();
  }); // prettier-ignore

  it('touches no later one of the same process', async () => {
    await using process = await listening();
    await using operator = new RedisLocks(server.url);
    const first = await process.locks.acquire(key);
    const { fencingToken } = first;
    const second = process.locks.acquire(key);
    await first.release();
    const next = await second;
    for (const grace of [0, 300]) {
      const eviction = await operator.locks.evict(key, { fencingToken, grace });
      expect(eviction.evicted).toBe(false);
    }
    expect(next.isHeld).toBe(true);
    await next.extend(30_000);
    await next.release();
  });

  it.each([0, 100, 700])(
    'touches no later one of the same process that was looked at before, with a grace of %d',
    async (grace) => {
      await using process = await listening();
      await using operator = new RedisLocks(server.url);
      const first = await process.locks.acquire(key);
      const waiting = [process.locks.acquire(key), process.locks.acquire(key)];
      const seen = await operator.locks.inspect(key);
      expect(seen!.fencingToken).toBe(first.fencingToken);
      await first.release();
      const second = await waiting[0]!;
      for (const { fencingToken } of [first, seen!])
      expect(await operator.locks.evict(key, { fencingToken: fencingToken!, grace })).toMatchObject({ evicted: false, outcome: 'not-held' }); // prettier-ignore
      await second.release();
      const third = await waiting[1]!; // by no command
      const late = await operator.locks.evict(key, { fencingToken: second.fencingToken, grace });
      expect(late).toMatchObject({ evicted: false, outcome: 'not-held' });
      expect([second.signal.aborted, third.isHeld]).toEqual([false, true]);
      await third.extend(30_000);
      await third.release();
    },
  );

  it('or by one that was never given takes nothing', async () => {
    await using process = new RedisLocks(server.url);
    const lock = await process.locks.acquire(key);
    const fencingToken = lock.fencingToken + 10_000_000_000n;
    const eviction = await process.locks.evict(key, { fencingToken, grace: 0 });
    expect(eviction).toMatchObject({ evicted: false, outcome: 'not-held' });
    await lock.extend(30_000);
    await lock.release();
  });
});

describe('On Redis, a holder that does not answer, while other locks raise the counter,', () => {
  /** Holds the key as a process would that is stopped, or of an earlier version. */
  async function silent(): Promise<bigint> {
    await using process = new RedisLocks(server.url);
    const { fencingToken } = (await process.store.tryAcquire(aRequest(key)))!;
    return fencingToken!;
  }

  it('is evicted by what inspect said of it', async () => {
    await using operator = new RedisLocks(server.url);
    await silent();
    const seen = await operator.locks.inspect(key);
    await others();
    await operator.locks.inspect(key);
    const eviction = await operator.locks.evict(key, { fencingToken: seen!.fencingToken!, grace: 0 });
    expect(eviction).toMatchObject({ evicted: true, outcome: 'taken', holder: 'test:1:2' });
  });

  it('is not evicted by a token that cannot be confirmed, but by the one that the answer names', async () => {
    await using operator = new RedisLocks(server.url);
    const fencingToken = await silent();
    await others();
    const eviction = await operator.locks.evict(key, { fencingToken, grace: 0 });
    expect(eviction).toMatchObject({ evicted: false, outcome: 'unconfirmed', holder: 'test:1:2' });
    await others(7);
    const again = await operator.locks.evict(key, { fencingToken: eviction.tokenBefore!, grace: 0 });
    expect(again).toMatchObject({ evicted: true, outcome: 'taken' });
  });
}); // prettier-ignore

describe('On Redis, locks.evict() rejects', () => {
  it.each([{ mode: 'read' as const }, { permits: 3 }])('for sharers: %p', async (options) => {
    await using process = new RedisLocks(server.url);
    const lock = await process.locks.acquire(key, options);
    const evicted = process.locks.evict(key, { fencingToken: 1n, grace: 0 });
    await expect(evicted).rejects.toBeInstanceOf(LockUnsupportedError);
    expect(lock.isHeld).toBe(true);
    await lock.release();
  });

  it('no key of a foreign program, but takes nothing from it', async () => {
    await using process = new RedisLocks(server.url);
    await server.command('SET', `lock:${key}`, 'theirs');
    const eviction = await process.locks.evict(key, { fencingToken: 1n, grace: 0 });
    expect(eviction).toMatchObject({ evicted: false, outcome: 'not-held' });
    expect(await value()).toBe('theirs');
  });
});

describe('On Redis, an eviction meets', () => {
  const ends: [string, (lock: Lock) => Promise<unknown>][] = [
    ['a release', (lock) => lock.release()],
    ['an extension', (lock) => lock.extend(20_000)],
    ['a downgrade', (lock) => lock.downgrade()],
    ['another eviction', async () => undefined],
  ];

  it.each(ends)('%s, and one of them wins', async (_, end) => {
    await using holder = await listening();
    await using operator = new RedisLocks(server.url);
    await using another = new RedisLocks(server.url);
    for (let round = 0; round < 20; round++) {
      const lock = await holder.locks.acquire(key, { waitTimeout: 5_000 });
      const { fencingToken } = lock;
      const evict = ({ locks }: RedisLocks) => locks.evict(key, { fencingToken, grace: 0 }).catch(() => undefined); // prettier-ignore
      const [first, second] = await Promise.all([evict(operator), evict(another), end(lock).catch(() => undefined)]); // prettier-ignore
      expect([first, second].filter((each) => each?.evicted).length).toBeLessThan(2);
      const winner = [first, second].find((each) => each?.evicted);
      if (winner) await until(() => !lock.isHeld);
      await lock.release();
      const token = await nextToken(operator);
      expect(token > fencingToken && token > (winner?.tokenAfter ?? 0n)).toBe(true);
    }
  });
});
