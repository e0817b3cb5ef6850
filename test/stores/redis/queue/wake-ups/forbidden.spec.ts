import { rejectionOf } from '../../../../core/support/outcome.js';
import { RedisServer } from '../../../../support/servers/redis-server.js';
import { ALL_CLIENTS, AppInstance, standing } from '../../../support/app-instance.js';

jest.setTimeout(30_000);

describe.each(ALL_CLIENTS)('Those who wait in one process, with %s,', (_, Client) => {
  it('are not refused because the server forbids the key of one of them', async () => {
    await using server = await RedisServer.start();
    const rights = ['~lock:order:*', '~{lock:order:*', '~{lock:mark:*', '&holdfast:*', '+@all'];
    await server.command('ACL', 'SETUSER', 'own', 'on', '>pw', ...rights);
    const client = { username: 'own', password: 'pw' };
    await using own = new AppInstance(server.url, { Client, client });
    for (const key of ['order:1', 'order:2'])
      await server.command('SET', `lock:${key}`, 'somebody', 'PX', 60_000);
    const waiting = [1, 2].map((number) => own.locks.acquire(`order:${number}`));
    for (const number of [1, 2]) await standing(server, `order:${number}`, 1);
    const keys = ['~lock:order:1', '~{lock:order:1}*', '~{lock:mark:*'];
    await server.command('ACL', 'SETUSER', 'own', 'resetkeys', ...keys);
    expect(await rejectionOf(waiting[1]!)).toMatchObject({ code: 'LOCK_STORE_FAILED' });
    await server.command('DEL', 'lock:order:1');
    expect(await (await waiting[0]!).release()).toBe(true);
  });
});
