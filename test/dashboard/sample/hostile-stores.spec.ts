import { LockService, MemoryLockStore } from 'nest-holdfast/core';
import type { LockPage, LockStore } from 'nest-holdfast/core';
import { lockDashboard } from 'nest-holdfast/dashboard';
import { FakeClock } from 'nest-holdfast/testing';
import { Sample } from '../../../lib/dashboard/sample/sample.js';
import { Sampler } from '../../../lib/dashboard/sample/sampler.js';
import { snapshotText } from '../../../lib/dashboard/sample/snapshots.js';
import type { Snapshot } from '../../../lib/dashboard/api.js';
import { until } from '../../support/until.js';
import { ask, Events } from '../support/browser-requests.js';
import { serve } from '../support/served.js';

const CONTEXT = { actions: [], charts: () => ({ times: [], series: [] }) };

/** A foreign store, with its own `list` and `nodes`. */
function storeWith(part: Partial<LockStore>): LockStore {
  return Object.assign(new MemoryLockStore(), part);
}

/** The first complete snapshot that visitors get. */
async function seen(store: LockStore, clock = new FakeClock()): Promise<Snapshot> {
  const locks = new LockService(store, { clock, storeTimeout: 1_000 });
  await locks.acquire('ours', { ttl: 600_000 });
  const sampled = new Sampler(locks, clock).once('ours');
  await clock.advance(10_000);
  const text = snapshotText(await sampled, {}, { locks, ...CONTEXT });
  await locks.close();
  return JSON.parse(text) as Snapshot;
}

const pageOf = (...locks: object[]) => Promise.resolve({ locks } as unknown as LockPage);

describe('A foreign store, on the page', () => {
  it.each<[string, Partial<LockStore>, RegExp]>([
    ['whose list throws', { list: () => { throw new TypeError('no such table'); } }, /no such table/], // prettier-ignore
    ['whose list rejects with nothing', { list: () => Promise.reject() }, /./],
    ['whose list is none', { list: () => Promise.resolve([] as never) }, /not understood/],
    ['whose holders are none', { list: () => pageOf({ key: 'a', holders: 'me' }) }, /`holders`/],
    ['whose age is a bigint', { list: () => pageOf({ key: 'a', heldFor: 7n }) }, /`heldFor`/],
    ['that hangs', { list: () => new Promise(() => {}) }, /no answer within 1000 ms/],
    ['whose nodes throw', { nodes: () => { throw new Error('not connected'); } }, /not connected/], // prettier-ignore
    ['whose nodes are none', { nodes: () => 7 as never }, /./],
  ])('%s: the page says so, and shows the locks of the process', async (_, part, words) => {
    const snapshot = await seen(storeWith(part));
    expect(snapshot.failure).toMatch(words);
    expect(snapshot.locks).toMatchObject([{ key: 'ours', isLocal: true }]);
  });

  it('that fails in the middle: what was read is shown', async () => {
    const list: LockStore['list'] = ({ cursor }) =>
      cursor ? Promise.reject(new Error('cut off')) : pageOf({ key: 'a' }).then((page) => ({ ...page, cursor: 'b' })); // prettier-ignore
    const snapshot = await seen(storeWith({ list }));
    expect(snapshot).toMatchObject({ isComplete: false, isReading: false });
    expect(snapshot.failure).toMatch(/cut off$/);
    expect(snapshot.locks.map(({ key }) => key).toSorted()).toEqual(['a', 'ours']);
  });

  it('that has no end: a round ends all the same', async () => {
    const clock = new FakeClock();
    const list: LockStore['list'] = async () => {
      await clock.advance(100);
      return { locks: [{ key: 'a' }], cursor: 'again' };
    };
    expect(await seen(storeWith({ list }), clock)).toMatchObject({ isComplete: false, total: 2 });
  });

  it('with texts of any size: a key that cannot be locked is left out, other texts are cut', async () => {
    const LONG = 'x'.repeat(1_000_000);
    const list = () =>
      pageOf(
        { key: LONG },
        { key: 'a', holder: LONG, waiters: [LONG, `${LONG}:1:2`], waiterCount: 2 },
        { key: '__proto__', holder: 'constructor' },
      );
    const snapshot = await seen(storeWith({ list }));
    expect(JSON.stringify(snapshot).length).toBeLessThan(10_000);
    expect(snapshot.locks.map(({ key }) => key).toSorted()).toEqual(['__proto__', 'a', 'ours']);
  });
});

it('A key without an end has no time left that could run out', async () => {
  const list = () => pageOf({ key: 'a', remaining: Infinity, heldFor: Infinity });
  const { locks } = await seen(storeWith({ list }));
  const row = locks.find(({ key }) => key === 'a')!;
  expect(Object.keys(row)).not.toEqual(expect.arrayContaining(['remaining']));
  expect(Object.keys(row)).not.toEqual(expect.arrayContaining(['heldFor']));
});

describe('The rounds of the page', () => {
  it('say what is not read yet', async () => {
    const clock = new FakeClock();
    const locks = new LockService(storeWith({ list: () => new Promise(() => {}) }), { clock });
    const samples: Sample[] = [];
    const leave = new Sampler(locks, clock).watch({ key: undefined, see: (one) => samples.push(one) }); // prettier-ignore
    await clock.advance(250);
    const first = JSON.parse(snapshotText(samples[0]!, {}, { locks, ...CONTEXT })) as Snapshot;
    expect(first).toMatchObject({ isReading: true, isComplete: false, total: 0 });
    leave();
    await locks.close();
  });

  it('go on for the others when one response cannot be written to, and end with the last of them', async () => {
    let lists = 0;
    const store = storeWith({ list: () => (lists++, pageOf()) });
    const locks = new LockService(store);
    const page = lockDashboard({ locks, authorize: 'public' });
    const served = await serve((request, response) => {
      if (request.headers['x-broken'])
        response.write = () => { throw new Error('a middleware that is broken'); }; // prettier-ignore
      page(request, response);
    });
    const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    const broken = await Events.open(`${served.origin}/api/events`, { 'x-broken': '1' });
    await until(() => broken.isOver);
    const events = await Events.open(`${served.origin}/api/events`);
    const late = await Events.open(`${served.origin}/api/events`, { 'x-broken': '1' });
    await until(() => late.isOver);
    await until(() => events.snapshots.length >= 2);
    expect(warned).toHaveBeenCalled();
    events.close();
    await until(async () => {
      const before = lists;
      await new Promise((resolve) => setTimeout(resolve, 3_000));
      return lists === before;
    });
    warned.mockRestore();
    page.close();
    await served.close();
    await locks.close();
  });

  it('go on when the service is closed while a browser looks', async () => {
    const locks = new LockService(new MemoryLockStore());
    const page = lockDashboard({ locks, authorize: 'public' });
    const served = await serve(page);
    const held = await locks.acquire('ours');
    const events = await Events.open(`${served.origin}/api/events?key=ours`);
    await events.until(({ total }) => total === 1);
    await held.release();
    await locks.close();
    await events.until(({ total, detail }) => total === 0 && detail === null);
    expect((await ask(`${served.origin}/`)).status).toBe(200);
    events.close();
    page.close();
    await served.close();
  });
});
