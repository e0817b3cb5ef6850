import type { EtcdClient } from './etcd-client.js';
import type { EtcdCredentials, EtcdServers } from './etcd-lock-options.js';

/** Calls are not retried here: the store itself repeats what may be repeated, and chooses the member. */
const AS_IT_IS = { execute: async <T>(call: (context: object) => T) => call({}) };

/** Connections of its own. A shared connection would make callers wait for up to two minutes after a failure. */
const OWN_CONNECTIONS = { 'grpc.use_local_subchannel_pool': 1 };

type Etcd3 = import('etcd3').Etcd3;
type Etcd3Options = import('etcd3').IOptions;

/** Missing in etcd3's types. */
interface Etcd3Inside {
  readonly pool?: { readonly authenticator?: { getCredentialsFromHost?: () => Promise<string> } };
}

/** A client for one member alone. Connects with its first call. `timeout` is for the login call, in ms. */
export async function openClient(
  host: string,
  { auth, credentials, grpcOptions }: EtcdServers,
  timeout: number,
): Promise<EtcdClient> {
  const { Etcd3: Client } = await import('etcd3');
  const open = (more: object): Etcd3 => {
    const options = {
      hosts: host,
      grpcOptions: { ...OWN_CONNECTIONS, ...grpcOptions },
      faultHandling: { global: AS_IT_IS, host: () => AS_IT_IS },
      ...(credentials && { credentials: asBuffers(credentials) }),
      ...more,
    };
    return new Client(options as unknown as Etcd3Options);
  };
  if (!auth) return open({}) as unknown as EtcdClient;
  const client = open({ auth });
  logInBy(client, async () => {
    const anonymous = open({});
    try {
      const login = { name: auth.username, password: auth.password };
      return (await anonymous.auth.authenticate(login, { deadline: deadlineIn(timeout) })).token;
    } finally {
      anonymous.close();
    }
  });
  return client as unknown as EtcdClient;
}

/** gRPC takes a time of day and turns it into a duration at once. */
export function deadlineIn(ms: number): Date {
  const deadline = new Date();
  deadline.setMilliseconds(deadline.getMilliseconds() + ms);
  return deadline;
}

/** gRPC takes nothing else. */
function asBuffers(credentials: EtcdCredentials): Record<string, Buffer> {
  const given = Object.entries(credentials).filter(([, pem]) => pem !== undefined);
  return Object.fromEntries(given.map(([name, pem]) => [name, Buffer.from(pem as Uint8Array)]));
}

/** By default, etcd3 logs in over connections that all its clients share, and that stay shut for minutes after an outage. */
function logInBy(client: Etcd3, logIn: () => Promise<string>): void {
  const { authenticator } = (client as unknown as Etcd3Inside).pool ?? {};
  if (authenticator?.getCredentialsFromHost) authenticator.getCredentialsFromHost = logIn;
}
