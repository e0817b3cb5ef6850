import { LockService } from 'nest-holdfast';
import { SqlLockStore } from 'nest-holdfast/sql';
import { type Pool, createPool } from 'mysql2/promise';
import { TcpProxy } from '../../../support/processes/tcp-proxy.js';
import { MariaDbServer } from '../../../support/servers/mariadb-server.js';
import { until } from '../../../support/until.js';

jest.setTimeout(120_000);

const WAITING = { waitTimeout: 60_000, storeTimeout: 60_000, ttl: 60_000 };

/** A client whose first release of `a` is lost: it is still on its way when the connection ends, and comes late. */
function losing(lossy: Pool, sound: Pool, proxy: TcpProxy) {
  const state = { lost: false };
  const query = async (sql: string, values: unknown[]): Promise<any> => {
    const isRelease = sql.startsWith('UPDATE') && sql.includes('`token` = NULL');
    if (!isRelease || state.lost) return sound.query(sql, values);
    state.lost = true;
    const { bytes } = proxy.requests;
    lossy.query(sql, values).catch(() => undefined);
    await until(() => proxy.requests.bytes > bytes);
    throw Object.assign(new Error('the connection was lost'), { code: 'ECONNRESET' });
  };
  return { client: { mysql: { query } }, state };
}

it('MariaDB: a release of a refused attempt for several keys that comes late frees no later grant', async () => {
  const server = await MariaDbServer.shared();
  await using proxy = await TcpProxy.start(server.port);
  const [lossy, sound] = [createPool(server.urlAt(proxy.port)), createPool(server.url)];
  const own = losing(lossy, sound, proxy);
  const locks = new LockService(new SqlLockStore(own.client));
  const others = new LockService(new SqlLockStore({ mysql: sound }));
  await new SqlLockStore({ mysql: sound }).createTable();
  await lossy.query('SELECT 1');
  proxy.requests.hold();
  const held = await others.acquire('b');
  const waiting = locks.acquire(['a', 'b'], WAITING);
  await until(() => own.state.lost);
  await held.release();
  const lock = await waiting;
  const { bytes } = proxy.replies;
  proxy.pass();
  await until(() => proxy.replies.bytes > bytes); // the late release was answered
  expect(await others.tryAcquire('a')).toBeUndefined();
  await lock.extend(60_000);
  expect(await lock.release()).toBe(true);
  for (const each of [locks, others]) await each.close();
  for (const pool of [lossy, sound]) await pool.end();
  await server.stop();
});
