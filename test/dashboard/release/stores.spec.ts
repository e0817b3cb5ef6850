import { LockService } from 'nest-holdfast/core';
import type { LockAuditEvent } from 'nest-holdfast/core';
import { lockDashboard } from 'nest-holdfast/dashboard';
import { FakeClock } from 'nest-holdfast/testing';
import type { Snapshot } from '../../../lib/dashboard/api.js';
import { until } from '../../support/until.js';
import { ask, Events, OF_THE_PAGE } from '../support/browser-requests.js';
import { PAGE_STORES } from '../support/page-stores.js';
import type { PageStore } from '../support/page-stores.js';
import { serve } from '../support/served.js';
import type { Served } from '../support/served.js';
import type { Opened } from '../../stores/support/backends.js';

/** Their holders hear of an eviction in another process when the key is taken, and not before. */
const TELLS_LATE = ['SQLite', 'PostgreSQL', 'PostgreSQL that is polled', 'MariaDB'];
const KEY = `order:"<7>'`;

describe.each(PAGE_STORES)('On %s, a release from the page', (name, start) => {
  const clock = new FakeClock();
  const audited: LockAuditEvent[] = [];
  let started: PageStore;
  let opened: Opened[];
  let holder: LockService;
  let operator: LockService;
  let served: Served;
  let page: ReturnType<typeof lockDashboard>;

  beforeAll(async () => {
    started = await start();
    opened = [started.open(), started.open()];
    const [theirs, ours] = opened as [Opened, Opened];
    holder = new LockService(theirs.store, { storeTimeout: 10_000 });
    operator = new LockService(ours.store, { storeTimeout: 10_000, clock });
    operator.events.on('audit', (event) => audited.push(event));
    const authorize = () => ({ actor: 'ada' });
    page = lockDashboard({ locks: operator, authorize, actions: ['release'] });
    served = await serve(page);
  });
  afterAll(async () => {
    page.close();
    await served.close();
    await Promise.all([holder.close(), operator.close()]);
    for (const { close } of opened) await close?.();
    await started.stop?.();
  });

  const post = async (fencingToken: string) => {
    const body = JSON.stringify({ key: KEY, fencingToken, reason: 'stuck' });
    const asked = { method: 'POST', headers: OF_THE_PAGE, body };
    const { status, body: answer } = await ask(`${served.origin}/api/release`, asked);
    return [status, JSON.parse(answer)];
  };

  it('ends the lock of another process: its holder hears of it, the audit tells it, and its row vanishes', async () => {
    const lock = await holder.acquire(KEY);
    await lock.extend(30_000); // from now on its process listens
    const events = await Events.open(`${served.origin}/api/events?key=${encodeURIComponent(KEY)}`);
    const rowOf = ({ locks }: Snapshot) => locks.find(({ key }) => key === KEY);
    const shown = await events.until((snapshot) => !!snapshot.detail && !!rowOf(snapshot)); // a slow store has its rows later
    const { detail } = shown;
    const row = rowOf(shown);
    expect(row).toMatchObject({ isLocal: false, holders: [{ pid: process.pid }] });
    const released = post(detail!.fencingToken!);
    if (TELLS_LATE.includes(name)) {
      await moveOn(clock, released);
      await expect(lock.extend(30_000)).rejects.toMatchObject({ code: 'LOCK_LOST' });
    } else {
      await until(async () => (await clock.advance(200), lock.signal.aborted), { every: 200 }); // its process may have to connect first
      expect(lock.signal.reason).toMatchObject({ code: 'LOCK_LOST', reason: 'revoked' });
      expect((await operator.inspect(KEY))?.holder).toMatch(/^[^\n]+:\d+:\d+$/); // it is still its holder's
      await lock.release();
      await moveOn(clock, released);
    }
    expect(await released).toEqual([
      200,
      expect.objectContaining({ released: true, tokenBefore: expect.stringMatching(/^\d+$/) }),
    ]);
    expect(audited).toMatchObject([
      { actor: 'ada', via: 'dashboard', action: 'evict', key: KEY, reason: 'stuck' },
    ]);
    await events.until(({ detail: left, total }) => left === null && total === 0);
    events.close();
  });
});

/** The page gives the holder ten seconds. Moves the clock of its process until the answer is there. */
async function moveOn(clock: FakeClock, answer: Promise<unknown>): Promise<void> {
  let isOver = false;
  const over = () => (isOver = true);
  void answer.then(over, over);
  await until(async () => {
    if (!isOver) await clock.advance(200);
    return isOver;
  });
}
