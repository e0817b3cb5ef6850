import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Cluster, Redis } from 'ioredis';
import { Redis as Redis5 } from 'ioredis5';
import { LockService, RedisLockStore } from 'nest-holdfast';
import type { LockWarningEvent, RedisLockStoreOptions } from 'nest-holdfast';
import { RedlockStore } from 'nest-holdfast/redlock';
import { withClock } from '../../../support/processes/fake-time.js';
import { RedisCluster } from '../../../support/servers/redis-cluster.js';
import { RedisSentinel } from '../../../support/servers/redis-sentinel.js';
import { RedisServer } from '../../../support/servers/redis-server.js';
import { until } from '../../../support/until.js';
import { warningsOf } from './warnings.js';
import type { Client } from './warnings.js';

const EVICTION = 'HOLDFAST_REDIS_EVICTION';
const PERSISTENCE = 'HOLDFAST_REDIS_PERSISTENCE';
const CLOCK = 'HOLDFAST_REDIS_CLOCK';
const ACL = 'HOLDFAST_REDIS_ACL';
const EVICTING = ['--maxmemory-policy', 'allkeys-lru'];

const CLIENTS: [string, (url: string) => Redis][] = [
  ['6', (url) => new Redis(url)],
  ['5', (url) => new Redis5(url) as unknown as Redis],
];

const start = (...args: readonly string[]) => RedisServer.start({ args });

/** All warnings of a check come at once: the first one says that the others are there. */
async function firstWarnings(
  client: Client,
  options?: RedisLockStoreOptions,
): Promise<readonly LockWarningEvent[]> {
  const watched = warningsOf(client, options);
  await until(() => watched.warnings.length > 0);
  await watched.close();
  return watched.warnings;
}

const codesOf = (warnings: readonly LockWarningEvent[]) =>
  warnings.map(({ code }) => code).toSorted();

describe.each(CLIENTS)('What a Redis loses locks by, seen by ioredis %s,', (_, open) => {
  it('is told once for each setting, with what to set', async () => {
    await using server = await start(...EVICTING);
    const warnings = await firstWarnings(open(server.url));
    expect(codesOf(warnings)).toEqual([EVICTION, PERSISTENCE]);
    for (const { store, message } of warnings) {
      expect(store).toBe('redis');
      expect(message).toContain(`Redis (127.0.0.1:${server.port})`);
    }
    const [eviction, persistence] = warnings.map(({ message }) => message);
    expect(eviction).toMatch(/maxmemory-policy allkeys-lru.*Set maxmemory-policy noeviction/);
    expect(persistence).toMatch(/append-only.*Set appendonly yes.*replicas/);
  });

  it('is not its persistence where it keeps a file, or replicas are awaited', async () => {
    await using file = await start(...EVICTING, '--appendonly', 'yes');
    expect(codesOf(await firstWarnings(open(file.url)))).toEqual([EVICTION]);
    await using awaited = await start(...EVICTING);
    expect(codesOf(await firstWarnings(open(awaited.url), { replicas: 1 }))).toEqual([EVICTION]);
  });

  it.each([
    ['ahead of', '+60s'],
    ['behind', '-60s'],
  ])('may be a clock that is %s ours', async (direction, off) => {
    await using server = await RedisServer.start({
      args: ['--appendonly', 'yes'],
      wrap: withClock(off),
    });
    const [warning, ...others] = await firstWarnings(open(server.url));
    expect(others).toEqual([]);
    expect(warning!.code).toBe(CLOCK);
    expect(warning!.message).toMatch(new RegExp(`is [56]\\d{4} ms ${direction} that of`));
  });
});

describe('A server', () => {
  it('is warned of once, however many clients and stores use it', async () => {
    await using server = await start();
    const all = [1, 2, 3].map((n) => warningsOf(new Redis(server.url), { keyPrefix: `${n}:` }));
    const told = () => all.flatMap(({ warnings }) => warnings).length;
    await until(() => told() > 0); // an answer that is not read yet is lost with the server
    await until(() => isChecked(server, 3));
    await server.restart(); // another one
    await until(() => told() > 1);
    await until(() => isChecked(server, 3));
    for (const each of all) await each.close();
    expect(all.flatMap(({ codes }) => codes())).toEqual([PERSISTENCE, PERSISTENCE]);
  });

  it('is asked nothing with serverChecks: false', async () => {
    await using server = await start(...EVICTING);
    const silent = warningsOf(new Redis(server.url), { serverChecks: false });
    await silent.locks.withLock('a', () => {});
    await silent.close();
    expect(codesOf(await firstWarnings(new Redis(server.url)))).toEqual([EVICTION, PERSISTENCE]);
    expect(silent.warnings).toEqual([]);
  });

  it('that forbids CONFIG and INFO is warned of by what it tells', async () => {
    await using server = await start('--rename-command', 'CONFIG', '', ...EVICTING);
    expect(codesOf(await firstWarnings(new Redis(server.url)))).toEqual([EVICTION, PERSISTENCE]);
    await using mute = await start('--rename-command', 'CONFIG', '', ...EVICTING);
    await mute.command('ACL', 'SETUSER', 'default', '-info', '-time');
    const [warning, ...others] = await firstWarnings(new Redis({ port: mute.port, enableReadyCheck: false })); // prettier-ignore
    expect(others).toEqual([]);
    expect(warning!.message).toMatch(/denies its user the commands info, time:.*\+info \+time$/);
  });

  it('that answers none of this delays no lock', async () => {
    await using server = await start(...EVICTING);
    const client = new Redis(server.url, { enableReadyCheck: false });
    client.info = () => new Promise<string>(() => undefined);
    const locks = new LockService(new RedisLockStore(client, { serverChecks: true }));
    expect(await locks.withLock('a', () => 1)).toBe(1);
    await locks.close();
    client.disconnect();
  });

  it('makes a process warning with a code where the application does not listen', async () => {
    await using server = await start('--appendonly', 'yes', ...EVICTING);
    const emitWarning = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    const client = new Redis(server.url);
    const locks = new LockService(new RedisLockStore(client, { serverChecks: true }));
    await until(() => emitWarning.mock.calls.length > 0);
    expect(emitWarning.mock.calls).toEqual([
      [expect.stringContaining(`:${server.port})`), { code: EVICTION }],
    ]);
    emitWarning.mockRestore();
    await locks.close();
    client.disconnect();
  });
});

describe('What a user may not do', () => {
  const PAGE = readFileSync(join(__dirname, '../../../../docs/stores/redis.md'), 'utf8');
  const RULE = /^ACL SETUSER locks (.+)$/m.exec(PAGE)![1]!.split(' ').slice(1);
  const USER = { username: 'locks', password: 'password' };
  let server: RedisServer;

  beforeAll(async () => {
    server = await start(...EVICTING, '--appendonly', 'yes');
  });

  afterAll(() => server.stop());

  async function deniedWith(rule: readonly string[], options?: RedisLockStoreOptions) {
    await server.command('ACL', 'SETUSER', 'locks', 'reset', 'on', ...rule);
    await server.restart(); // a server that was started anew is checked anew
    await server.command('ACL', 'SETUSER', 'locks', 'reset', 'on', ...rule);
    const warnings = await firstWarnings(new Redis({ port: server.port, ...USER }), options);
    if (!rule.includes('-eval')) expect(await server.command('ACL', 'LOG')).toEqual([]);
    return warnings.filter(({ code }) => code === ACL).map(({ message }) => message);
  }

  it('is nothing with the rule of the docs', async () => {
    expect(await deniedWith(RULE)).toEqual([]);
    expect(await deniedWith(RULE, { replicas: 1 })).toEqual([]);
  });

  it('is named with the rule to add: commands', async () => {
    const [message, ...others] = await deniedWith([...RULE, '-zadd', '-publish', '-pexpire']);
    expect(others).toEqual([]);
    expect(message).toContain('denies its user the commands pexpire, zadd, publish:');
    expect(message).toMatch(/ACL SETUSER <user> \+pexpire \+zadd \+publish$/);
  });

  it('is named with the rule to add: keys and channels', async () => {
    const without = RULE.filter((word) => word !== '~{lock:*}:line' && word !== '&holdfast:*');
    const [message] = await deniedWith([...without, 'resetchannels']);
    expect(message).toContain('denies its user the keys {lock:*}:line and the channels holdfast:*');
    expect(message).toMatch(/ACL SETUSER <user> ~\{lock:\*\}:line &holdfast:\*$/);
  });

  it('may be everything with another prefix, or with no script', async () => {
    const [message] = await deniedWith(RULE, { keyPrefix: 'other:' });
    expect(message).toContain(
      'the keys other:*, {other:*}:fence, {other:*}:line, {other:*}:shared',
    );
    const [noScripts] = await deniedWith([...RULE, '-eval', '-evalsha']);
    expect(noScripts).toContain('denies its user the commands evalsha, eval:');
  });

  it('is any command that a script of ours calls', async () => {
    const lua = join(__dirname, '../../../../lib/stores/redis/lua');
    const sources = readdirSync(lua).map((file) => readFileSync(join(lua, file), 'utf8')).join(''); // prettier-ignore
    const called = new Set(
      [...sources.matchAll(/redis\.p?call\('(\w+)'/g)].map(([, name]) => name),
    );
    const barely = RULE.filter((word) => !called.has(word.slice(1)) || /^\+(get|time)$/.test(word));
    const [message] = await deniedWith(barely);
    const denied = /the commands (.*?):/.exec(message!)![1]!.split(', ');
    expect([...called].filter((name) => !['get', 'time', ...denied].includes(name!))).toEqual([]);
  });

  it('is the WAIT for replicas where some are awaited', async () => {
    expect(await deniedWith([...RULE, '-wait'])).toEqual([]);
    expect(await deniedWith([...RULE, '-wait'], { replicas: 1 })).toEqual([
      expect.stringContaining('the commands wait:'),
    ]);
  });
});

describe('Of several servers', () => {
  it('each master of a Cluster is checked', async () => {
    await using cluster = await RedisCluster.start(3, 0);
    for (const node of cluster.nodes) await node.command('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru'); // prettier-ignore
    const watched = warningsOf(new Cluster(cluster.startupNodes));
    for (let key = 0; key < 50; key++) await watched.locks.withLock(`key ${key}`, () => {});
    await until(() => watched.warnings.length === 6);
    expect(watched.codes()).toEqual([...Array(3).fill(EVICTION), ...Array(3).fill(PERSISTENCE)]);
    for (const { port } of cluster.nodes)
      expect(watched.warnings.filter(({ message }) => message.includes(`:${port})`))).toHaveLength(
        2,
      );
    await watched.close();
  });

  it('the master is checked behind Sentinel', async () => {
    await using sentinel = await RedisSentinel.start({ replicas: 1, sentinels: 1 });
    const [warning, ...others] = await firstWarnings(new Redis(sentinel.client));
    expect(others).toEqual([]);
    expect(warning).toMatchObject({ code: PERSISTENCE, message: expect.stringMatching(/^Redis \(the master of /) }); // prettier-ignore
  });

  it('each node of a Redlock is checked, and may forget: it has no vote after a restart', async () => {
    const servers = await Promise.all([1, 2, 3].map(() => start(...EVICTING)));
    const clients = servers.map(({ url }) => new Redis(url));
    const nodes = clients.map((client) => new RedisLockStore(client, { serverChecks: true }));
    const locks = new LockService(new RedlockStore(nodes));
    const warnings: LockWarningEvent[] = [];
    locks.events.on('warning', (warning) => warnings.push(warning));
    await until(() => warnings.length === 3);
    expect(codesOf(warnings)).toEqual([EVICTION, EVICTION, EVICTION]);
    await locks.close();
    for (const client of clients) client.disconnect();
    for (const server of servers) await server.stop();
  });
});

/** By so many connections: the server has answered all that they ask. */
async function isChecked(server: RedisServer, times: number): Promise<boolean> {
  const info = String(await server.command('INFO', 'commandstats'));
  const calls = (command: string) =>
    Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(info)?.[1] ?? 0);
  const scripts = calls('eval') + calls('evalsha');
  return scripts >= times && calls('time') >= times && calls('info') >= 3 * times;
}
