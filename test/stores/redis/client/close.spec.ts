import { once } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { LockStoreError } from 'nest-holdfast';
import { rejectionOf } from '../../../core/support/outcome.js';
import { RedisServer } from '../../../support/servers/redis-server.js';
import { TcpProxy } from '../../../support/processes/tcp-proxy.js';
import { AppInstance, standing } from '../../support/app-instance.js';
import { disconnect } from '../locks.js';

describe('closing a store whose client has just come back', () => {
  let server: RedisServer;
  let proxy: TcpProxy;
  let own: AppInstance;

  beforeEach(async () => {
    server = await RedisServer.shared();
    proxy = await TcpProxy.start(server.port);
    own = new AppInstance(proxy.url);
  });

  afterEach(async () => {
    await own[Symbol.asyncDispose]();
    await proxy.stop();
    await server.stop();
  });

  // An unhandled rejection fails the test that runs.
  it('lets the client be closed at once: no subscription is under way whose rejection is unhandled', async () => {
    await server.command('SET', 'lock:order:42', 'somebody', 'PX', 60_000);
    const waiting = rejectionOf(own.locks.acquire('order:42'));
    await standing(server, 'order:42', 1);
    const ready = once(own.redis, 'ready');
    proxy.cutAll();
    await ready;
    await own.locks.close();
    const end = once(own.redis, 'end');
    disconnect(own.redis);
    await end;
    for (let i = 0; i < 3; i++) await turn();
    expect(await waiting).toBeInstanceOf(LockStoreError);
  });
});
