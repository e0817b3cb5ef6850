import { tracingChannel } from 'node:diagnostics_channel';
import { LockService, MemoryLockStore } from 'nest-holdfast/core';
import type { LockEventName, LockHoldTrace, LockServiceOptions } from 'nest-holdfast/core';
import { PAGE_STORES } from '../dashboard/support/page-stores.js';
import type { PageStore } from '../dashboard/support/page-stores.js';
import { until } from '../support/until.js';
import type { Opened } from './support/backends.js';

const NAMES = ['waiting', 'held', 'overdue', 'timeout', 'released', 'audit'] as const satisfies readonly LockEventName[]; // prettier-ignore
const THIS_PROCESS = expect.stringContaining(`:${process.pid}:`);

const memory = async (): Promise<PageStore> => {
  const store = new MemoryLockStore();
  return { open: () => ({ store }) };
};

describe.each([['Memory', memory] as const, ...PAGE_STORES])('The locks on %s', (_, start) => {
  let started: PageStore;
  let opened: Opened[];
  let holder: LockService;
  let caller: LockService;
  const seen: [name: string, event: object][] = [];
  const around: LockHoldTrace[] = [];
  const aroundWork: LockServiceOptions['aroundWork'] = (hold, run) => (around.push(hold), run());
  const ofCaller = (name: string) => seen.filter(([each]) => each === name).map(([, event]) => event); // prettier-ignore

  beforeAll(async () => {
    started = await start();
    opened = [started.open(), started.open()];
    holder = new LockService(opened[0]!.store, { storeTimeout: 10_000 });
    caller = new LockService(opened[1]!.store, { storeTimeout: 10_000, aroundWork });
    for (const name of NAMES)
      caller.events.on(name, (event: object) => void seen.push([name, event]));
  });
  beforeEach(() => {
    seen.length = 0;
    around.length = 0;
  });
  afterAll(async () => {
    await Promise.all([holder.close(), caller.close()]);
    for (const { close } of opened) await close?.();
    await started.stop?.();
  });

  it('tell a caller that gives up which process has the lock, and the list tells the same', async () => {
    const first = await holder.acquire('observed:1', { ttl: 60_000 });
    const call = { name: 'observed:<n>', waitTimeout: 50 };
    // The question may take longer than the error waits for it, on a busy machine.
    const error = await until(async () => {
      const refused = caller.acquire('observed:1', call).then(() => undefined);
      const each = (await refused.catch((reason: unknown) => reason)) as { heldBy?: string };
      return each.heldBy === undefined ? undefined : each;
    });
    expect(error).toMatchObject({ code: 'LOCK_TIMEOUT', heldBy: THIS_PROCESS });
    const ended = { key: 'observed:1', name: 'observed:<n>', mode: 'write', error, heldBy: THIS_PROCESS }; // prettier-ignore
    expect(ofCaller('timeout').at(-1)).toMatchObject(ended);
    expect(ofCaller('waiting').length).toBe(ofCaller('timeout').length);
    const { locks, cursor } = await caller.list({ match: 'observed:*' });
    expect(cursor).toBeUndefined();
    expect(locks).toMatchObject([{ key: 'observed:1', holder: error.heldBy }]);
    await first.release();
  });

  it('are told by events, by the channels and around their work', async () => {
    const holds = new Map<LockHoldTrace, string[]>();
    const note = (step: string) => (message: LockHoldTrace) =>
      void holds.set(message, [...(holds.get(message) ?? []), step]);
    const channel = tracingChannel<unknown, LockHoldTrace>('nest-holdfast:hold');
    const steps = { start: note('start'), asyncEnd: note('asyncEnd') };
    channel.subscribe(steps as never);
    const options = { name: 'observed:<n>', overdueAfter: 1 };
    const token = await caller.withLock('observed:2', options, async ({ fencingToken }) => {
      await until(() => ofCaller('overdue').length > 0);
      expect(caller.held()).toMatchObject([{ key: 'observed:2', overdue: true, fencingToken }]);
      return fencingToken;
    });
    channel.unsubscribe(steps as never);
    const what = { key: 'observed:2', name: 'observed:<n>', store: caller.storeName, fencingToken: token }; // prettier-ignore
    expect(seen).toMatchObject([
      ['held', { ...what, attempts: 1 }],
      ['overdue', { ...what, isLost: false }],
      ['released', { ...what, heldFor: expect.any(Number) }],
    ]);
    expect([...holds]).toEqual([[expect.objectContaining(what), ['start', 'asyncEnd']]]);
    expect(around).toEqual([...holds.keys()]);
  });

  it('are audited when their service is drained', async () => {
    expect(await caller.drain({ within: 1, actor: 'ada', reason: 'deploy' })).toEqual([]);
    expect(seen).toMatchObject([
      ['audit', { action: 'drain', actor: 'ada', reason: 'deploy', store: caller.storeName, holder: THIS_PROCESS }], // prettier-ignore
    ]);
  });
});
