import { Redis } from 'ioredis';
import { RedisCluster } from '../support/servers/redis-cluster.js';
import { RedisSentinel } from '../support/servers/redis-sentinel.js';
import { RedisServer } from '../support/servers/redis-server.js';
import { freePort } from '../support/processes/free-port.js';
import { type Failing, SECRET, expectNoLeaks, leaks, linesOf, play } from './support/play.js';
import type { StoreSpec } from './support/open-store.js';

jest.setTimeout(180_000);

const HOST = '127.0.0.1';
const BAD_KEY = `-----BEGIN PRIVATE KEY-----\n${SECRET}\n-----END PRIVATE KEY-----`;

describe('No secret of Redis is printed, logged, told or answered', () => {
  let plain: RedisServer;
  let guarded: RedisServer;
  let old: RedisServer;
  let full: RedisServer;

  beforeAll(async () => {
    const unknown = ['--rename-command', 'HELLO', '', '--rename-command', 'AUTH', ''];
    [plain, guarded, old, full] = await Promise.all([
      RedisServer.start(),
      RedisServer.start({ args: ['--requirepass', 'another'] }),
      RedisServer.start({ args: unknown }),
      RedisServer.start({ args: ['--requirepass', SECRET, '--maxmemory', '1'] }),
    ]);
    await plain.command('ACL', 'SETUSER', 'confined', 'on', `>${SECRET}`, '+ping', '+info');
  });
  afterAll(() => Promise.all([plain, guarded, old, full].map((server) => server.stop())));

  it('while no lock can be taken, by ioredis 5 and 6, a Cluster, Sentinels, a Redlock', async () => {
    const nobody = await freePort();
    const url = (port: number, user = '') => `redis://${user}:${SECRET}@${HOST}:${port}`;
    const sentinels = (port: number) => [{ host: HOST, port }];
    const scenarios: Failing = {
      refused: [{ store: { redis: url(guarded.port) } }, /WRONGPASS/],
      'refused 5': [{ store: { redis: url(guarded.port), version: 5 } }, /WRONGPASS/],
      confined: [{ store: { redis: url(plain.port, 'confined') } }, /NOPERM/],
      'confined 5': [{ store: { redis: url(plain.port, 'confined'), version: 5 } }, /NOPERM/],
      repeated: [{ store: { redis: url(old.port, 'u') } }, /unknown command/],
      'repeated 5': [{ hangs: true, store: { redis: url(old.port, 'u'), version: 5 } }, /no answer|max retries|unknown command/], // prettier-ignore
      full: [{ store: { redis: url(full.port) } }, /OOM/],
      down: [{ store: { redis: url(nobody) } }, /ECONNREFUSED|max retries/],
      tls: [{ store: { redis: { host: HOST, port: plain.port, tls: { key: BAD_KEY } } } }, /LOCK_STORE_FAILED/], // prettier-ignore
      sentinel: [{ hangs: true, store: { redis: { sentinels: sentinels(guarded.port), name: 'm', sentinelPassword: SECRET, password: SECRET } } }, /sentinel|no answer|max retries/i], // prettier-ignore
      'sentinel 5': [{ hangs: true, store: { redis: { sentinels: sentinels(guarded.port), name: 'm', sentinelPassword: SECRET, password: SECRET }, version: 5 } }, /sentinel|no answer|max retries/i], // prettier-ignore
      'no sentinel': [{ hangs: true, store: { redis: { sentinels: sentinels(nobody), name: 'm', sentinelPassword: SECRET, password: SECRET } } }, /sentinel|no answer|max retries/i], // prettier-ignore
      cluster: [{ hangs: true, store: { cluster: [{ host: HOST, port: guarded.port }], password: SECRET } }, /WRONGPASS|slots cache|no answer/i], // prettier-ignore
      'no cluster': [{ hangs: true, store: { cluster: [{ host: HOST, port: nobody }], password: SECRET } }, /slots cache|no answer|ECONNREFUSED/i], // prettier-ignore
      redlock: [{ store: { redlock: [url(guarded.port), url(nobody), url(plain.port, 'confined')] } }, /0 of 3 nodes/], // prettier-ignore
      gate: [{ gate: url(guarded.port) }, /WRONGPASS/],
      'gate down': [{ gate: url(nobody) }, /ECONNREFUSED|max retries|closed/],
      module: [{ module: { redis: url(guarded.port) } }, /WRONGPASS|503/],
      'module json': [{ module: { redis: url(guarded.port) } }, /WRONGPASS|503/],
      'module list': [{ module: { redis: [url(guarded.port), url(nobody), url(old.port)] } }, /503|start/], // prettier-ignore
      'module /': [{ module: { redis: `redis://:${SECRET}/x@${HOST}:1` } }, /cannot be read/],
      'module #': [{ module: { redis: `redis://:${SECRET}#x@${HOST}:1` } }, /cannot be read/],
      'module ?': [{ module: { redis: `redis://:x?${SECRET}@${HOST}:1` } }, /cannot be read/],
      'module %': [{ module: { redis: `redis://:%${SECRET}@${HOST}:1` } }, /cannot be read|start/],
    };
    await expectNoLeaks(scenarios);
  });

  it('when the password is rotated, or the server fails, while locks are held and awaited', async () => {
    const servers = await Promise.all(
      Array.from({ length: 8 }, () => RedisServer.start({ args: ['--requirepass', SECRET] })),
    );
    const [six, five, killed, hung, follower, ...nodes] = servers;
    const cluster = await RedisCluster.start(1);
    const sentinel = await RedisSentinel.start({ replicas: 0, sentinels: 1 });
    try {
      await cluster.nodes[0]!.command('CONFIG', 'SET', 'requirepass', SECRET);
      await sentinel.master.command('CONFIG', 'SET', 'requirepass', SECRET);
      const held = (store: StoreSpec, hangs = false) =>
        ({ store, hangs, whileHeld: true }) as const;
      const url = ({ port }: RedisServer) => `redis://:${SECRET}@${HOST}:${port}`;
      const output = await play(
        {
          rotated: held({ redis: url(six!) }),
          'rotated 5': held({ redis: url(five!), version: 5 }),
          killed: held({ redis: url(killed!) }),
          hung: held({ redis: url(hung!) }, true),
          follower: held({ redis: url(follower!) }),
          redlock: held({ redlock: nodes.map(url) }),
          cluster: held({ cluster: cluster.startupNodes, password: SECRET }, true),
          sentinel: held({ redis: { ...sentinel.client, password: SECRET } }, true),
        },
        {
          rotated: () => rotate(six!),
          'rotated 5': () => rotate(five!),
          killed: () => killed!.kill(),
          hung: async () => hung!.pause(),
          follower: () => command(follower!, 'REPLICAOF', HOST, '1'),
          redlock: () => Promise.all(nodes.map(rotate)),
          cluster: () => rotate(cluster.nodes[0]!),
          sentinel: () => rotate(sentinel.master),
        },
      );
      expect(leaks(output)).toEqual([]);
      for (const name of ['rotated', 'rotated 5', 'redlock', 'killed', 'hung', 'follower']) {
        expect(linesOf(output, name)).toMatch(/ jeopardy\]/);
        expect(linesOf(output, name)).toMatch(/ lost\].*LOCK_LOST/);
      }
      expect(linesOf(output, 'rotated')).toContain('WRONGPASS');
    } finally {
      hung!.resume();
      await Promise.all([...servers.map((server) => server.stop()), cluster[Symbol.asyncDispose](), sentinel.stop()]); // prettier-ignore
    }
  });
});

/** As an operator of the server: one command, of a connection with its password. */
async function command(
  { port }: RedisServer,
  name: string,
  ...args: readonly string[]
): Promise<void> {
  const client = new Redis(port, HOST, { password: SECRET });
  client.on('error', () => {});
  await client.call(name, ...args);
  client.disconnect();
}

/** Gives the server another password, and ends all connections with the one of before. */
async function rotate(server: RedisServer): Promise<void> {
  const { port } = server;
  const client = new Redis(port, HOST, { password: SECRET });
  client.on('error', () => {});
  await client.config('SET', 'requirepass', 'rotated');
  await client.call('CLIENT', 'KILL', 'TYPE', 'PUBSUB');
  await client.call('CLIENT', 'KILL', 'TYPE', 'NORMAL', 'SKIPME', 'yes');
  client.disconnect();
}
