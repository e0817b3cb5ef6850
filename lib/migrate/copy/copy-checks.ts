import type { AdminServer } from './admin-client.js';
import { refuse } from './copy-error.js';
import type { Gate } from './gate.js';
import { checkDatabases } from './databases.js';
import type { LockKeys } from './lock-keys.js';

/** Milliseconds: half the time that a fencing counter outlives its last grant, so that no token goes back. */
const LARGEST_SKEW = 1_800_000;

interface Side {
  readonly name: 'from' | 'to';
  readonly server: AdminServer;
  readonly gate: Gate;
}

/** Throws `CopyError` for servers that cannot be moved between, or not yet. Changes nothing. */
export async function checkServers(from: Side, to: Side, user: string) {
  const ids = await Promise.all([from, to].map((side) => checkServer(side, user)));
  if (ids[0] === ids[1]) refuse('"from" and "to" are one server');
  await checkDatabases(from.server, to.server, user);
  const ahead = await clockAhead(from.server, to.server);
  if (Math.abs(ahead) > LARGEST_SKEW)
    refuse(`the clocks differ by ${Math.round(Math.abs(ahead) / 1_000)} s: fencing tokens could go back. Set the clock of "to"`); // prettier-ignore
}

/** Milliseconds by which the clock of `to` is ahead, at least: it is read last. */
export async function clockAhead(from: AdminServer, to: AdminServer): Promise<number> {
  const before = await from.time();
  return (await to.time()) - before;
}

/** Its `run_id`. */
async function checkServer({ name, server, gate }: Side, user: string): Promise<string> {
  const [mode, role, replicas, id] = await Promise.all([
    server.info('server', 'redis_mode'),
    server.info('replication', 'role'),
    server.info('replication', 'connected_slaves'),
    server.info('server', 'run_id'),
  ]);
  if (mode === 'cluster')
    refuse(
      `"${name}" is part of a Cluster, which moves slots between its servers safely by itself`,
    );
  if (role !== 'master') refuse(`"${name}" is a replica: name its master`);
  if (name === 'from' && replicas !== '0')
    refuse('"from" has replicas: one that is promoted would let the applications in again, for ACLs are not replicated. Detach them first'); // prettier-ignore
  if ((await server.text('ACL', 'WHOAMI')) === user)
    refuse(`the connection to "${name}" is of the user "${user}": connect as an administrator`);
  const rights = await gate.rights();
  if (!rights) refuse(`"${name}" has no user "${user}"`);
  if (rights.hasSelectors)
    refuse(`the user "${user}" of "${name}" has selectors, which a copy cannot close`);
  return id ?? '';
}

/** Throws `CopyError` where the target may have granted locks. */
export async function checkTarget({ server, gate }: Side, user: string, keys: LockKeys) {
  if (await gate.isOn())
    refuse(`the user "${user}" of "to" is on: ACL SETUSER ${user} off, so that no client takes locks there yet`); // prettier-ignore
  if (!(await gate.mayRunScripts()))
    refuse(`the user "${user}" of "to" may not run scripts, as an earlier copy left it: give it the rights that it has at "from"`); // prettier-ignore
  if ((await gate.connections()) > 0)
    refuse(`a client is connected to "to" as "${user}": CLIENT KILL USER ${user}`);
  for await (const names of keys.all(server))
    if (names.length > 0) refuse(`"to" has locks: ${names.length} or more keys, ${JSON.stringify(names[0])} for one`); // prettier-ignore
}
