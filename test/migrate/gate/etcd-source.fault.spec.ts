import { LockService, MemoryLockStore } from 'nest-holdfast';
import { EtcdLockStore } from 'nest-holdfast/etcd';
import { migrationStatus } from 'nest-holdfast/migrate';
import { EtcdAuthServer } from '../../stores/etcd/client/auth-server.js';
import { until } from '../../support/until.js';

const TTL = 1_000;
/** Milliseconds: longer than this test may take. */
const SESSION = 600_000;

function storeOf({ url }: EtcdAuthServer, username: string): EtcdLockStore {
  const auth = { username, password: 'secret' };
  return new EtcdLockStore({ hosts: url, auth }, { sessionTimeout: SESSION });
}

/** So in `phase: 'to'` nobody but the operator can say that etcd has no locks of the old configuration any more. */
it('a lock on etcd outlives its user and its ttl, and the status of the move shows it', async () => {
  const server = await EtcdAuthServer.demanding('jwt');
  const [old, other] = [0, 1].map(() => new LockService(storeOf(server, 'locker'), { ttl: TTL }));
  const held = await old!.acquire('order:42');
  await server.askAsRoot('/v3/auth/user/delete', { name: 'locker' });
  const refusal = () => other!.tryAcquire('order:43').then(() => '', String);
  await until(async () => (await refusal()).includes('invalid user ID or password'));
  const refusedAt = performance.now();
  await until(() => performance.now() - refusedAt > 1.5 * TTL);
  const from = storeOf(server, 'root');
  const status = await migrationStatus({ from, to: new MemoryLockStore() });
  expect(held.isHeld).toBe(true);
  expect(status).toMatchObject({ isPaired: false, unpaired: [{ key: 'order:42' }] });
  await Promise.all([old!.close(), other!.close(), from.close()]);
  await server.remove();
});
