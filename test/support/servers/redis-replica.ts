import { RedisServer } from './redis-server.js';
import { until } from '../until.js';

/** A replica of `master`, in step with it, so that `WAIT 1` on the master succeeds. */
export async function startReplica(master: RedisServer): Promise<RedisServer> {
  const args = ['--replicaof', '127.0.0.1', String(master.port)];
  const replica = await RedisServer.start({ args });
  await until(
    async () => String(await master.command('INFO', 'replication')).includes('state=online'),
    { within: 30_000, every: 20, what: 'the replica to be in step' },
  );
  return replica;
}
