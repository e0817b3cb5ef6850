import type { LockPage } from '../../../../lib/core/contract/lock-inspection.js';
import type { RedisClient } from '../../../../lib/redis-client/redis-client.js';
import type { Inspector } from '../../../../lib/stores/redis/inspect/inspector.js';
import { lockListOf } from '../../../../lib/stores/redis/inspect/lock-list.js';
import { ServerKeys } from '../../../../lib/stores/redis/keys/server-keys.js';
import { rejectionOf } from '../../../core/support/outcome.js';

type Scan = readonly [cursor: string, count: number];

/** A server with names, in steps of as many as a SCAN asks for. */
class FakeServer {
  runId = 'a';
  readonly scans: Scan[] = [];
  patterns = new Set<string>();
  reply: unknown;

  constructor(public names: string[]) {}

  readonly info = async () => `run_id:${this.runId}\r\n`;

  readonly scan = async (
    cursor: string,
    _m: string,
    pattern: string,
    _c: string,
    count: number,
  ) => {
    this.scans.push([cursor, count]);
    this.patterns.add(pattern);
    if (this.reply instanceof Error) throw this.reply;
    if (this.reply !== undefined) return this.reply;
    const end = Number(cursor) + count;
    const next = end < this.names.length ? String(end) : '0';
    return [next, this.names.slice(Number(cursor), end)];
  };
}

const locks = (count: number) => Array.from({ length: count }, (_, index) => `lock:k${index}`);
const others = (count: number) => Array<string>(count).fill('{lock:x}:line');

describe('A walk through the locks of a server', () => {
  let server: FakeServer;
  let asked: jest.Mock;

  beforeEach(() => {
    server = new FakeServer(locks(5));
    asked = jest.fn();
  });

  function list(client: object = server) {
    const inspector = { many: async (keys: readonly string[]) => keys.map((key) => ({ key })) };
    return lockListOf({
      client: client as RedisClient,
      keys: new ServerKeys('lock:', '', true),
      inspector: inspector as unknown as Inspector,
      silence: { asked },
    })!;
  }

  const keysOf = ({ locks: found }: LockPage) => found.map(({ key }) => key);

  it('is one page where all have room', async () => {
    const page = await list().page({ limit: 10 });
    expect(keysOf(page)).toEqual(['k0', 'k1', 'k2', 'k3', 'k4']);
    expect(page).not.toHaveProperty('cursor');
    expect(server.scans).toEqual([['0', 10]]);
    expect([...server.patterns]).toEqual(['lock:*']);
    expect(asked).toHaveBeenCalledTimes(1);
  });

  it('goes on where a page has ended', async () => {
    const first = await list().page({ limit: 2 });
    const second = await list().page({ limit: 2, cursor: first.cursor });
    const third = await list().page({ limit: 2, cursor: second.cursor });
    expect([first, second, third].map(keysOf)).toEqual([['k0', 'k1'], ['k2', 'k3'], ['k4']]);
    expect(third.cursor).toBeUndefined();
    expect(server.scans.map(([cursor]) => cursor)).toEqual(['0', '2', '4']);
  });

  it('begins again on a server that was started again', async () => {
    const { cursor } = await list().page({ limit: 2 });
    server.runId = 'b';
    expect(keysOf(await list().page({ limit: 2, cursor }))).toEqual(['k0', 'k1']);
  });

  it('takes large steps where locks are rare, and small ones again where they are not', async () => {
    server.names = [...others(2), ...locks(600)];
    const page = await list().page({ limit: 2 });
    expect(keysOf(page)).toHaveLength(2);
    expect(server.scans).toEqual([
      ['0', 2],
      ['2', 500],
      ['2', 2],
    ]);
  });

  it('ends a page after some steps, with what it has found', async () => {
    server.names = [...locks(1), ...others(20_000)];
    const page = await list().page({ limit: 1_000 });
    expect(keysOf(page)).toEqual(['k0']);
    expect(server.scans).toHaveLength(20);
    expect(page.cursor).toBeDefined();
  });

  it('keeps names that have no room for the next page, also of the last step', async () => {
    server.reply = ['0', locks(3)];
    const first = await list().page({ limit: 2 });
    expect(keysOf(first)).toEqual(['k0', 'k1']);
    expect(keysOf(await list().page({ limit: 2, cursor: first.cursor }))).toEqual(['k2']);
    expect(server.scans).toHaveLength(1);
  });

  it('finds only what is meant', async () => {
    const page = await list().page({ limit: 10, match: 'k*3' });
    expect(keysOf(page)).toEqual(['k3']);
    expect([...server.patterns]).toEqual(['lock:k*']);
  });

  it('tells each name once', async () => {
    server.reply = ['0', [...locks(2), ...locks(2)]];
    expect(keysOf(await list().page({ limit: 10 }))).toEqual(['k0', 'k1']);
  });

  it.each([
    ['no list', 'none'],
    ['no names', ['0', 'none']],
    ['numbers', ['0', [1]]],
    ['one part', ['0']],
  ])('fails where the server answers %s', async (_, reply) => {
    server.reply = reply;
    expect(await rejectionOf(list().page({ limit: 10 }))).toMatchObject({ message: expect.stringContaining('not understood') }); // prettier-ignore
  });

  it('fails with the server', async () => {
    server.reply = new Error('NOPERM scan');
    expect(await rejectionOf(list().page({ limit: 10 }))).toMatchObject({ message: expect.stringContaining('NOPERM scan') }); // prettier-ignore
  });

  it('is none with a client that cannot scan', () => {
    expect(lockListOf({ client: {} } as never)).toBeUndefined();
  });
});

describe('A walk through the locks of a Cluster', () => {
  const page = (masters: readonly FakeServer[], query: object) => {
    const nodes = masters.map((master, index) =>
      Object.assign(master, { options: { host: 'redis', port: index } }),
    );
    const nothing = () => {};
    const client = { isCluster: true, slots: [], nodes: () => nodes, on: nothing, off: nothing, scan: nothing }; // prettier-ignore
    const inspector = { many: async (keys: readonly string[]) => keys.map((key) => ({ key })) };
    const keys = new ServerKeys('lock:', '', false);
    const silence = { asked: nothing };
    const list = lockListOf({ client, keys, inspector, silence } as never)!;
    return list.page({ limit: 2, ...query });
  };

  it('goes from master to master', async () => {
    const masters = [locks(3), ['lock:other'], []].map((names) => new FakeServer(names));
    const first = await page(masters, {});
    const second = await page(masters, { cursor: first.cursor });
    const third = await page(masters, { cursor: second.cursor });
    const found = [first, second, third].map((each) => each.locks.map(({ key }) => key));
    expect(found).toEqual([['k0', 'k1'], ['k2', 'other'], []]);
    expect(third.cursor).toBeUndefined();
  });

  it('begins again where its masters are others', async () => {
    const masters = [locks(3), ['lock:other']].map((names) => new FakeServer(names));
    const { cursor } = await page(masters, {});
    const again = await page(masters.slice(0, 1), { cursor });
    expect(again.locks.map(({ key }) => key)).toEqual(['k0', 'k1']);
  });
});
