import type { EtcdClient } from './etcd-client.js';
import type { EtcdCredentials, EtcdServers } from './etcd-lock-options.js';

/** Calls go through as they are: the store itself repeats what may be repeated, and chooses the member. */
const AS_IT_IS = { execute: async <T>(call: (context: object) => T) => call({}) };

/** Its own connections: one that others share would make them wait, after a failure, for up to two minutes. */
const OWN_CONNECTIONS = { 'grpc.use_local_subchannel_pool': 1 };

type Etcd3 = import('etcd3').Etcd3;
type Etcd3Options = import('etcd3').IOptions;

/** What is no part of etcd3's types. */
interface Etcd3Inside {
  readonly pool?: { readonly authenticator?: { getCredentialsFromHost?: () => Promise<string> } };
}

/** A client for one member alone. Connects with its first call. `timeout` is for the call that logs in, in ms. */
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

/** gRPC wants a time of day, of which it makes a duration at once. */
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

/** By itself, etcd3 logs in over connections that all its clients share, and that stay shut for minutes after an outage. */
function logInBy(client: Etcd3, logIn: () => Promise<string>): void {
  const { authenticator } = (client as unknown as Etcd3Inside).pool ?? {};
  if (authenticator?.getCredentialsFromHost) authenticator.getCredentialsFromHost = logIn;
}
