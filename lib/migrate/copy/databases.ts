import type { AdminServer } from './admin-client.js';
import { refuse } from './copy-error.js';

/** Throws `CopyError` where the administrator copies other databases of the servers than the applications use. */
export async function checkDatabases(
  from: AdminServer,
  to: AdminServer,
  user: string,
): Promise<void> {
  const [left, right] = await Promise.all([databaseOf(from), databaseOf(to)]);
  if (left !== right)
    refuse(`the administrator is connected to database ${left} of "from", and to database ${right} of "to": the applications use one`); // prettier-ignore
  const others = (await databasesOf(from, user)).filter((each) => each !== left);
  if (others.length > 0)
    refuse(`the user "${user}" is connected to database ${others[0]} of "from", and the administrator to database ${left}: connect to that of the locks, on both servers`); // prettier-ignore
}

/** That of this connection. */
async function databaseOf(server: AdminServer): Promise<string> {
  const id = String(await server.call('CLIENT', 'ID'));
  const own = (await clientsOf(server)).find((client) => client.get('id') === id);
  return own?.get('db') ?? '0';
}

/** Those of the user's connections. A subscriber may have selected none. */
async function databasesOf(server: AdminServer, user: string): Promise<string[]> {
  const clients = await clientsOf(server);
  const own = clients.filter((client) => client.get('user') === user && !client.get('flags')?.includes('P')); // prettier-ignore
  return own.map((client) => client.get('db') ?? '0');
}

async function clientsOf(server: AdminServer): Promise<ReadonlyMap<string, string>[]> {
  const lines = (await server.text('CLIENT', 'LIST')).split('\n').filter(Boolean);
  return lines.map((line) => new Map(line.split(' ').map(fieldOf)));
}

function fieldOf(text: string): [name: string, value: string] {
  const at = text.indexOf('=');
  return [text.slice(0, at), text.slice(at + 1)];
}
