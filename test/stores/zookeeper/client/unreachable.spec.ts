import { LockService } from 'nest-holdfast/core';
import { ZooKeeperLockStore } from 'nest-holdfast/zookeeper';
import { freePort } from '../../../support/processes/free-port.js';

it('LOCK_STORE_FAILED says why ZooKeeper cannot be reached', async () => {
  const port = await freePort();
  const store = new ZooKeeperLockStore(`127.0.0.1:${port}`, { connectTimeout: 3_000 });
  const locks = new LockService(store);
  await expect(locks.tryAcquire('a')).rejects.toMatchObject({
    code: 'LOCK_STORE_FAILED',
    message: expect.stringContaining(`connect ECONNREFUSED 127.0.0.1:${port}`),
  });
  await locks.close();
});
