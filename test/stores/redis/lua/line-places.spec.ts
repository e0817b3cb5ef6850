import { LEAVE, WAIT } from '../../../../lib/stores/redis/lua/queue-scripts.js';
import { lapse, lineKey, lineOf } from '../../../support/redis-line.js';
import { scriptClient } from '../script-client.js';

const LOCK = 'lock:order:42';
const KEYS = [LOCK, lineKey(LOCK), `{${LOCK}}:shared`];
const CLAIM = 1_000;
/** Longer than any test, in milliseconds. */
const LIFE = 600_000;
/** The beginning of the numbers of places, in milliseconds since 1970. */
const EPOCH = 1.7e12;

/** A waiter of a call: its name, and the words of the script about it. */
interface Place {
  readonly name: string;
  readonly age?: number;
  readonly behind?: string;
}

const valueOf = (name: string) => `${name}:host:1:2`;

describe('A place in the line of a lock on Redis', () => {
  const client = scriptClient();

  beforeEach(() => client.redis.set(LOCK, 'foreign', 'PX', LIFE));

  /** One call for all of them. */
  async function stand(...places: readonly Place[]): Promise<readonly unknown[][]> {
    const words = places.flatMap(({ name, age = '', behind }) => [
      valueOf(name),
      behind === undefined ? `${CLAIM} ${age}` : `${CLAIM} ${age} 8 ${CLAIM} ${valueOf(behind)}`,
    ]);
    const keys = places.flatMap(() => KEYS);
    return WAIT.run(client.redis, keys, [LIFE, ...words], (reply) => reply as unknown[][]);
  }

  /** A call each, which the server gets together: no time passes between them. */
  const atOnce = async (...places: readonly Place[]) =>
    (await Promise.all(places.map((place) => stand(place)))).flat();

  const inFront = (replies: readonly unknown[][]) => replies.map((reply) => reply[2]);
  const line = async () => (await lineOf(client.ask, LOCK)).map(({ value }) => value.split(':')[0]);

  it.each([
    ['has the time at which its caller asked as its number', 700],
    ['has the time of the call, without an age', undefined],
  ])('%s', async (_, age) => {
    const before = await client.now();
    await stand({ name: 's.1', ...(age === undefined ? {} : { age }) });
    const after = await client.now();
    const number = Number(await client.redis.zscore(lineKey(LOCK), `${CLAIM} ${valueOf('s.1')}`));
    expect(number).toBeGreaterThanOrEqual(before - EPOCH - (age ?? 0) - 0.01);
    expect(number).toBeLessThanOrEqual(after - EPOCH - (age ?? 0) + 0.01);
  });

  it('is in front of those whose callers asked later, and knows how many it is behind', async () => {
    const replies = await atOnce(
      { name: 's.1', age: 0 },
      { name: 's.2', age: 1_500 },
      { name: 's.3', age: 700 },
    );
    expect(inFront(replies)).toEqual([0, 0, 1]);
    expect(await line()).toEqual(['s.2', 's.3', 's.1']);
  });

  it('without an age is the last, whenever the others asked', async () => {
    await stand({ name: 's.1', age: -60_000 });
    expect(inFront(await stand({ name: 's.2' }))).toEqual([1]);
    expect(inFront(await stand({ name: 's.3' }))).toEqual([2]);
    expect(await line()).toEqual(['s.1', 's.2', 's.3']);
  });

  it('is the last where it would be in front of the last one by more than two seconds', async () => {
    await stand({ name: 's.1', age: 0 });
    expect(inFront(await stand({ name: 's.2', age: 60_000 }))).toEqual([1]);
    await stand({ name: 's.3', age: -60_000 }); // a clock that goes back later
    expect(inFront(await stand({ name: 's.4', age: 0 }))).toEqual([3]);
    expect(await line()).toEqual(['s.1', 's.2', 's.3', 's.4']);
  });

  it('is behind those of the same call that come before it, whatever their ages', async () => {
    await stand({ name: 's.1', age: 100 }, { name: 's.2', age: 900 }, { name: 's.3', age: 500 });
    expect(await line()).toEqual(['s.1', 's.2', 's.3']);
  });

  it('is behind one that the same call finds in line, which has come before it', async () => {
    await stand({ name: 's.1', age: 0 });
    await stand({ name: 's.1', age: 0 }, { name: 's.2', age: 900 }, { name: 's.3', age: 500 });
    expect(await line()).toEqual(['s.1', 's.2', 's.3']);
  });

  it('is behind the place that it names, and where that is gone by its age', async () => {
    const replies = await atOnce(
      { name: 's.1', age: 300 },
      { name: 's.2', age: 0 },
      { name: 's.3', age: 1_500, behind: 's.1' },
      { name: 's.4', age: 1_500, behind: 'gone' },
    );
    expect(inFront(replies)).toEqual([0, 1, 1, 0]);
    expect(await line()).toEqual(['s.4', 's.1', 's.3', 's.2']);
  });

  it('is kept by every later call', async () => {
    await stand({ name: 's.1' });
    await stand({ name: 's.2' });
    expect(inFront(await stand({ name: 's.1', age: 0 }, { name: 's.2', age: 5_000 }))).toEqual([0, 1]); // prettier-ignore
    expect(await line()).toEqual(['s.1', 's.2']);
  });

  it('that is left gives a lock that it has got to the next, which lives', async () => {
    for (const name of ['s.1', '~s.2', '~s.3']) await stand({ name });
    await client.redis.set(LOCK, valueOf('s.1'), 'PX', LIFE);
    await LEAVE.run(client.redis, KEYS, [valueOf('s.1'), CLAIM], () => {});
    expect(await client.redis.get(LOCK)).toBe(valueOf('~s.2'));
    expect(await line()).toEqual(['~s.3']);
    await client.redis.set(LOCK, 'foreign', 'PX', LIFE);
    await LEAVE.run(client.redis, KEYS, [valueOf('~s.3'), CLAIM], () => {});
    expect([await client.redis.get(LOCK), await line()]).toEqual(['foreign', []]);
  });

  it('counts the living in front of it, from the ninth on', async () => {
    const names = Array.from({ length: 9 }, (_, index) => `s.${index}`);
    for (const name of names) await stand({ name });
    for (const waiter of (await lineOf(client.ask, LOCK)).slice(0, 3))
      await lapse(client.ask, LOCK, waiter);
    expect(inFront(await stand({ name: 's.8' }))).toEqual([5]);
    expect(inFront(await stand({ name: 's.7' }))).toEqual([7]);
  });

  it('counts no sharer in front of it that is dead', async () => {
    for (let index = 0; index < 6; index++) await stand({ name: `s.${index}` });
    for (let index = 6; index < 12; index++) await stand({ name: `s*2.${index}` });
    const waiters = await lineOf(client.ask, LOCK);
    for (const index of [0, 1, 6, 7, 8]) await lapse(client.ask, LOCK, waiters[index]!);
    expect(inFront(await stand({ name: 's.12' }))).toEqual([7]);
  });

  it('of a sharer is refused while others wait with other permits, and not by the dead', async () => {
    await stand({ name: 's*2.1' });
    expect(await stand({ name: 's*3.1' })).toEqual([[2, '2']]);
    await lapse(client.ask, LOCK, (await lineOf(client.ask, LOCK))[0]!);
    expect(inFront(await stand({ name: 's*3.1' }))).toEqual([1]);
  });

  it('knows when a sharer may have gone, at the latest when the first waiter lapses', async () => {
    const end = Math.floor(await client.now()) + 50_000;
    await client.redis.set(LOCK, '*2', 'PX', LIFE);
    await client.redis.zadd(KEYS[2]!, end, valueOf('o*2.1'), end + 9_000, valueOf('o*2.2'));
    const [[state, left]] = (await stand({ name: 's*2.1' })) as [[number, number]];
    expect(state).toBe(0);
    expect(left).toBeLessThanOrEqual(50_000);
    expect(left).toBeGreaterThan(0);
    const [waiter] = await lineOf(client.ask, LOCK);
    await client.redis.zadd(lineKey(LOCK), end - 40_000 + 1e13, `@${waiter!.entry}`);
    const [[, soon]] = (await stand({ name: 's*2.2' })) as [[number, number]];
    expect(soon).toBeLessThanOrEqual(10_000);
  });
});
