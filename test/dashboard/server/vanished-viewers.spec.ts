import type { ServerResponse } from 'node:http';
import { LockService, MemoryLockStore } from 'nest-holdfast/core';
import type { LockInspection, LockPage } from 'nest-holdfast/core';
import { FakeClock } from 'nest-holdfast/testing';
import { Dashboard } from '../../../lib/dashboard/server/dashboard.js';
import { TcpProxy } from '../../support/processes/tcp-proxy.js';
import { until } from '../../support/until.js';
import { Events } from '../support/browser-requests.js';
import { serve } from '../support/served.js';

class CountedStore extends MemoryLockStore {
  lists = 0;
  found: readonly LockInspection[] = [];

  override async list(): Promise<LockPage> {
    this.lists++;
    return { locks: this.found };
  }
}

/** A viewer behind a network that goes silent, without a FIN. */
async function viewed(found: readonly LockInspection[] = []) {
  const clock = new FakeClock();
  const store = new CountedStore(clock);
  store.found = found;
  const locks = new LockService(store, { clock });
  const dashboard = new Dashboard(locks, [], clock);
  const responses: ServerResponse[] = [];
  const served = await serve((request, response) => {
    responses.push(response);
    void dashboard.answer({ request, response, route: 'api/events', url: request.url!, actor: undefined, body: undefined }); // prettier-ignore
  });
  const proxy = await TcpProxy.start(Number(new URL(served.origin).port));
  const events = await Events.open(`http://127.0.0.1:${proxy.port}/`);
  const turn = () => new Promise(setImmediate); // so that sockets can be written to
  return {
    store,
    clock,
    proxy,
    response: responses[0]!,
    async moveOn(ms: number) {
      for (let left = ms; left > 0; left -= 1_000) {
        await clock.advance(Math.min(left, 1_000));
        await turn();
      }
    },
    async [Symbol.asyncDispose]() {
      events.close();
      dashboard.close();
      await proxy.stop();
      await served.close();
      await locks.close();
    },
  };
}

describe('A viewer that has vanished without a word', () => {
  it('is given up a minute after its bytes have backed up, and the store is not asked any more', async () => {
    const waiters = Array.from({ length: 10 }, () => 'x'.repeat(300));
    const keys = Array.from({ length: 200 }, (_, index) => `order:${index}`);
    await using it = await viewed(keys.map((key) => ({ key, waiters, waiterCount: 10 })));
    await it.moveOn(4_000);
    expect([it.store.lists > 1, it.response.destroyed]).toEqual([true, false]);
    it.proxy.stall();
    await until(() => it.moveOn(2_000).then(() => it.response.writableNeedDrain));
    await it.moveOn(50_000);
    expect(it.response.destroyed).toBe(false);
    await it.moveOn(15_000);
    await expectGone(it);
  });

  it('of a page that has too little to back up is given up after five minutes', async () => {
    await using it = await viewed();
    it.proxy.stall();
    await it.moveOn(290_000);
    expect([it.store.lists > 100, it.response.destroyed]).toEqual([true, false]);
    await it.moveOn(12_000);
    await expectGone(it);
  });
});

async function expectGone(it: Awaited<ReturnType<typeof viewed>>): Promise<void> {
  await until(() => it.response.destroyed && it.response.closed);
  await it.moveOn(3_000); // the pause after the last round
  const { lists } = it.store;
  await it.moveOn(60_000);
  expect([it.store.lists, it.clock.pendingTimers]).toEqual([lists, 0]);
}
