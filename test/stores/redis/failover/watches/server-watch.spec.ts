import type { ServerLink } from '../../../../../lib/core/contract/server-link.js';
import { watchServer } from '../../../../../lib/stores/redis/failover/server-watch.js';

/** The link to a server that may be another one after each connection. */
class FakeLink {
  losses = 0;
  runId: string | undefined = 'a';
  connected = () => {};
  readonly vitals = async () => {
    if (this.runId === undefined) throw new Error('NOPERM');
    return { runId: this.runId, upFor: 0, time: 0 };
  };

  onReady(listener: () => void): void {
    this.connected = listener;
  }
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('The watch over the server of a client', () => {
  let link: FakeLink;
  let told: string[];

  beforeEach(() => {
    link = new FakeLink();
    told = [];
    watchServer(link as unknown as ServerLink, ({ type, reason }) => told.push(`${type}: ${reason}`)); // prettier-ignore
  });

  async function connect(runId: string | undefined, losses = link.losses + 1): Promise<void> {
    Object.assign(link, { runId, losses });
    link.connected();
    await settled();
  }

  it('doubts nothing after the first connection, and after one more to the same server', async () => {
    await connect('a', 0);
    await connect('a');
    expect(told).toEqual([]);
  });

  it('doubts all locks of a server that is another one, once', async () => {
    await connect('a', 0);
    await connect('b');
    await connect('b');
    expect(told).toEqual([
      'doubt: the server is another one than before, or was started again: its run_id was a, and is b',
    ]);
  });

  it.each([
    ['before', undefined, 'a'],
    ['now', 'a', undefined],
    ['before and now', undefined, undefined],
  ])('doubts all locks of a server that did not tell its run %s', async (_, before, now) => {
    await connect(before, 0);
    expect(told).toEqual([]);
    await connect(now);
    expect(told).toEqual([
      'doubt: reconnected, and it is not known whether to the same server as before',
    ]);
  });

  it('leaves the answer of a connection that is lost meanwhile to the next one', async () => {
    await connect('a', 0);
    Object.assign(link, { runId: 'b', losses: 1 });
    link.connected();
    link.losses = 2;
    await settled();
    expect(told).toEqual([]);
    await connect('a', 2);
    expect(told).toEqual([]);
  });
});
