import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { Cluster, Redis } from 'ioredis';
import { Cluster as Cluster5 } from 'ioredis5';
import { LockService, RedisLockStore } from 'nest-holdfast';
import { RedisCluster } from '../../../support/servers/redis-cluster.js';
import { RedisServer } from '../../../support/servers/redis-server.js';
import { TcpProxy } from '../../../support/processes/tcp-proxy.js';
import { until } from '../../../support/until.js';
import { CLIENTS, AppInstance } from '../../support/app-instance.js';
import { disconnect } from '../locks.js';

jest.setTimeout(120_000);

const SETTINGS = [{}, { commandTimeout: 2_000 }];

// As a network does that forgets a connection on which little is said: the server has closed it, the client does not know.
describe.each(
  CLIENTS.flatMap(([name, Client]) =>
    SETTINGS.map((client) => [name, JSON.stringify(client), Client, client] as const),
  ),
)(
  'A store whose second connection is half open, with %s and %s,',
  (_name, _what, Client, client) => {
    let server: RedisServer;
    let proxy: TcpProxy;
    let own: AppInstance;
    let rivals: AppInstance[];

    beforeEach(async () => {
      server = await RedisServer.start();
      proxy = await TcpProxy.start(server.port);
      own = new AppInstance(server.url, { Client, client, silenceTimeout: 1_000 });
      const duplicate = (options: object) => new Redis({ ...options, port: proxy.port });
      Object.assign(own.redis, { duplicate });
      rivals = [new AppInstance(server.url), new AppInstance(server.url)];
    });

    afterEach(async () => {
      proxy.pass();
      await Promise.all([own, ...rivals].map((each) => each[Symbol.asyncDispose]()));
      await proxy.stop();
      await server.stop();
    });

    async function forgetSubscriber(): Promise<void> {
      const [channel] = (await server.command('PUBSUB', 'CHANNELS', '*')) as string[];
      proxy.replies.hold();
      const { bytes } = proxy.replies;
      await server.command('PUBLISH', channel!, 'what keeps the end from its client');
      await until(() => proxy.replies.bytes > bytes);
      await server.command('CLIENT', 'KILL', 'TYPE', 'pubsub');
    }

    it('makes it anew, and has its turns of a lock that others want, too', async () => {
      const held = await rivals[0]!.locks.acquire('order:42');
      const waiting = own.locks.acquire('order:42');
      await until(async () => (await server.command('EXISTS', '{lock:order:42}:line')) === 1);
      await held.release();
      await (await waiting).release();
      await forgetSubscriber();
      const before = proxy.accepted;

      const over = new AbortController();
      let grants = 0;
      const turns = [own, ...rivals].map(async ({ locks }) => {
        while (!over.signal.aborted) {
          await locks.withLock('order:42', () => pause(20));
          if (locks === own.locks) grants++;
        }
      });
      await until(() => proxy.accepted > before, {
        within: 60_000,
        what: 'a connection to be made',
      });
      proxy.pass();
      const few = grants;
      await until(() => grants > few + 5, {
        within: 60_000,
        what: 'the lock to be had like others',
      });
      over.abort();
      await Promise.all(turns);
    });
  },
);

interface Subscribing {
  readonly subscriber: {
    getInstance(): { readonly status: string; readonly stream: Socket } | null;
  };
}

it.each([
  ['ioredis 6', Cluster],
  ['ioredis 5', Cluster5 as unknown as typeof Cluster],
])(
  'On a Cluster, a subscriber that is half open is given up for another one, with %s',
  async (_, Client) => {
    await using cluster = await RedisCluster.shared();
    const [own, other] = [1, 2].map(() => new Client(cluster.startupNodes)) as [Cluster, Cluster];
    const locks = new LockService(new RedisLockStore(own, { silenceTimeout: 1_000 }));
    const others = new LockService(new RedisLockStore(other));
    const held = await others.acquire('order:42');
    const waiting = locks.acquire('order:42', { waitTimeout: 120_000 });
    const listening = () => (own as unknown as Subscribing).subscriber.getInstance();
    await until(() => listening()?.status === 'ready', { what: 'a subscriber' });
    const first = listening()!;
    first.stream.pause(); // nothing is read any more, and no error is reported
    const what = 'another subscriber';
    await until(() => listening() !== first && listening()?.status === 'ready', {
      within: 60_000,
      what,
    });
    await held.release();
    expect(await (await waiting).release()).toBe(true);
    await Promise.all([locks.close(), others.close()]);
    for (const client of [own, other]) disconnect(client);
  },
);
