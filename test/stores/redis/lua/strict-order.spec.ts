import { FREE } from '../../../../lib/stores/redis/lua/free-script.js';
import { HAND_ON, RENEW } from '../../../../lib/stores/redis/lua/lease-scripts.js';
import { WAIT } from '../../../../lib/stores/redis/lua/queue-scripts.js';
import { lapse, lineKey, lineOf } from '../../../support/redis-line.js';
import { scriptClient } from '../script-client.js';

const LOCK = 'lock:order:42';
const COUNTER = `{${LOCK}}:fence`;
const KEYS = [LOCK, COUNTER, lineKey(LOCK)];
const CLAIM = 100_000;
/** Longer than any test, in milliseconds. */
const LIFE = 600_000;
/** The beginning of the numbers of places, in milliseconds since 1970. */
const EPOCH = 1.7e12;
/** Its value, as the mark of a store. */
const MARK = '~s.!';

/** Of a Cluster: the scripts take each store for alive. */
const valueOf = (name: string) => `~${name}:host:1:2`;

describe('A release in strict order on Redis', () => {
  const client = scriptClient();

  /** The first of these has the lock, the others wait. */
  async function lineUp(holder: string, ...waiters: readonly string[]): Promise<void> {
    await client.redis.set(LOCK, valueOf(holder), 'PX', LIFE);
    for (const each of waiters) {
      const keys = [LOCK, lineKey(LOCK), `{${LOCK}}:shared`];
      await client.run(WAIT, keys, LIFE, valueOf(each), String(CLAIM));
    }
  }

  const release = (holder: string) => client.run(FREE, KEYS, valueOf(holder), LIFE);

  const holder = () => client.redis.get(LOCK);
  const line = async () => (await lineOf(client.ask, LOCK)).map(({ value }) => value.split(':')[0]);
  const mark = async () => (await lineOf(client.ask, LOCK)).find(({ value }) => value === MARK);

  it('gives an exclusive waiter of the same store the key, with a token and its whole ttl', async () => {
    const ahead = Date.now() * 1_000 + 3_600_000_000;
    await client.redis.set(COUNTER, ahead);
    await lineUp('s.1', 's.2');
    expect(await release('s.1')).toEqual([valueOf('s.2'), ahead + 1]);
    expect(await client.redis.get(COUNTER)).toBe(String(ahead + 1));
    expect(await holder()).toBe(valueOf('s.2'));
    expect(await client.redis.pttl(LOCK)).toBeLessThanOrEqual(LIFE);
    expect(await client.redis.pttl(LOCK)).toBeGreaterThan(LIFE / 2);
  });

  it('leaves a mark of a store that waits near the head once more, for the time of its claim', async () => {
    await lineUp('o.1', 's.1', 't.1', 's.2');
    const before = await client.now();
    expect(await release('o.1')).toBe(1);
    const after = await client.now();
    expect(await holder()).toBe(valueOf('s.1'));
    expect(await line()).toEqual(['~t.1', '~s.2', MARK]);
    const { entry, deadline } = (await mark())!;
    expect(deadline).toBeGreaterThanOrEqual(before + CLAIM - 1);
    expect(deadline).toBeLessThanOrEqual(after + CLAIM + 1);
    const number = Number(await client.redis.zscore(lineKey(LOCK), entry));
    expect(number).toBeGreaterThanOrEqual(before - EPOCH - 1);
    expect(number).toBeLessThanOrEqual(after - EPOCH + 1);
  });

  it('leaves no mark of a store that waits only once', async () => {
    await lineUp('o.1', 's.1', 't.1', 't.2');
    await release('o.1');
    expect(await line()).toEqual(['~t.1', '~t.2']);
  });

  it('leaves a mark that goes when its store takes the lock', async () => {
    await lineUp('o.1', 's.1', 's.2');
    await release('o.1');
    expect(await line()).toContain(MARK);
    await client.run(RENEW, KEYS, valueOf('s.1'), LIFE);
    expect(await line()).toEqual(['~s.2']);
  });

  it('leaves a mark that is no place, and the store has its other places until it lapses', async () => {
    await lineUp('o.1', 's.1', 's.2', 's.3', 't.1');
    await release('o.1');
    await client.redis.del(LOCK);
    await client.run(HAND_ON, [LOCK, lineKey(LOCK)]);
    expect(await holder()).toBe(valueOf('s.2'));
    await lapse(client.ask, LOCK, (await mark())!);
    await client.redis.del(LOCK);
    await client.run(HAND_ON, [LOCK, lineKey(LOCK)]);
    expect(await holder()).toBe(valueOf('t.1'));
  });
});
