import { EtcdLockStore } from 'nest-holdfast/etcd';
import { EtcdServer } from '../../../support/servers/etcd-server.js';
import { put } from './content.js';

/** More than etcd is asked for at once. */
const MANY = 1_100;

describe('the list of EtcdLockStore', () => {
  let server: EtcdServer;
  const stores: EtcdLockStore[] = [];

  beforeAll(async () => {
    server = await EtcdServer.start();
    for (let index = 0; index < MANY; index++) {
      await put(server, `many/order%3A${index}/@token~1`, 'a:1:1');
      await put(server, `long/b/@token${index}~1`, `w:${index}:1`);
    }
    for (const key of ['a', 'c']) await put(server, `long/${key}/@token~1`, 'a:1:1');
  });

  afterAll(async () => {
    await Promise.all(stores.map((store) => store.close()));
    await server?.remove();
  });

  async function listed(prefix: string, limit: number, match?: string) {
    const store = new EtcdLockStore({ hosts: server.url }, { prefix });
    stores.push(store);
    const locks = [];
    let cursor: string | undefined;
    do {
      const page = await store.list({ match, limit, cursor });
      expect(page.locks.length).toBeLessThanOrEqual(limit);
      locks.push(...page.locks);
      cursor = page.cursor;
    } while (cursor !== undefined);
    return locks;
  }

  it.each([7, 1_000, 5_000])('tells many keys in pages of %i', async (limit) => {
    const keys = (await listed('many', limit)).map(({ key }) => key);
    expect(keys).toHaveLength(MANY);
    expect(new Set(keys).size).toBe(MANY);
  });

  it.each([1, 2, 100])('tells a long queue once, in pages of %i', async (limit) => {
    const locks = await listed('long', limit);
    expect(locks.map(({ key }) => key)).toEqual(['a', 'b', 'c']);
    const [, long] = locks;
    expect(long).toMatchObject({ holder: 'w:0:1', waiterCount: MANY - 1 });
    expect(long!.waiters!.slice(0, 2)).toEqual(['w:1:1', 'w:2:1']);
    expect((await listed('long', limit, '?')).map(({ key }) => key)).toEqual(['a', 'b', 'c']);
    expect((await listed('long', limit, 'c*')).map(({ key }) => key)).toEqual(['c']);
  });

  it('has nothing of a longer prefix, and nothing of other programs', async () => {
    await put(server, 'outer/a/@token~1', 'a:1:1');
    await put(server, 'outer/inner/b/@token~1', 'a:1:1');
    await put(server, 'outer/%session/1', '');
    await put(server, 'outer/plain', '');
    await put(server, 'outer/%zz/@token~1', '');
    expect((await listed('outer', 10)).map(({ key }) => key)).toEqual(['a']);
    expect((await listed('outer/inner', 10)).map(({ key }) => key)).toEqual(['b']);
    expect(await listed('', 10)).toEqual([]);
  });
});
