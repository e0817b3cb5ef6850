import { layoutOf, runIdOf } from '../../../../lib/stores/redis/inspect/masters.js';
import type { RedisClient } from '../../../../lib/redis-client/redis-client.js';
import { rejectionOf } from '../../../core/support/outcome.js';

const nothing = async () => undefined as unknown;

/** A connection to a master, which has a line about itself. */
interface FakeMaster {
  readonly options: { readonly host: string; readonly port: number };
  readonly scan: unknown;
  readonly cluster?: (word: string) => Promise<unknown>;
}

function master(
  port: number,
  id: string,
  slots = '0-99',
  epoch = 1,
  flags = 'myself,master',
): FakeMaster {
  const others = 'ffff redis:9@19 slave abcd 0 0 1 connected\n';
  const line = `${id} redis:${port}@${port + 10} ${flags} - 0 0 ${epoch} connected ${slots}\r\n`;
  return {
    options: { host: 'redis', port },
    scan: nothing,
    cluster: async (word) => (word === 'NODES' ? others + line : ''),
  };
}

function cluster(...masters: readonly object[]) {
  const nodes = (role: string) => (role === 'master' ? masters : []);
  return { isCluster: true, slots: [], nodes, on: nothing, off: nothing, scan: nothing };
}

const layout = (client: object) => layoutOf(client as RedisClient);
const namesOf = async (client: object) => (await layout(client)).masters.map(({ name }) => name);
const stampOf = async (client: object) => (await layout(client)).stamp;

describe('The masters of a list', () => {
  it('are the one server of a client, without a name', async () => {
    const client = { scan: nothing };
    expect(await layout(client)).toEqual({ masters: [{ name: '', client }], stamp: '' });
    expect(await layout({})).toEqual({ masters: [], stamp: '' });
  });

  it('are those of a Cluster that can be scanned, by their names', async () => {
    const unable = { ...master(3, 'c'), scan: undefined };
    const client = cluster(master(2, 'b'), unable, master(1, 'a'));
    expect(await namesOf(client)).toEqual(['redis:1', 'redis:2']);
    expect(await stampOf(client)).toMatch(/^[\w-]{8}$/);
  });

  it('come after those that move slots to them', async () => {
    const target = master(1, 'aa');
    const source = master(2, 'bb', '0-99 [42->-aa] [43-<-cc]');
    expect(await namesOf(cluster(target, source))).toEqual(['redis:2', 'redis:1']);
    const inACircle = master(1, 'aa', '0-99 [7->-bb]');
    expect(await namesOf(cluster(inACircle, source))).toEqual(['redis:1', 'redis:2']);
  });

  it.each([
    ['slots', cluster(master(1, 'a', '0-98'))],
    ['a move of slots', cluster(master(1, 'a', '0-99 [42->-b]'))],
    ['an epoch', cluster(master(1, 'a', '0-99', 2))],
    ['an id', cluster(master(1, 'b'))],
    ['a name', cluster(master(2, 'a'))],
    ['masters', cluster(master(1, 'a'), master(2, 'b', '100-199'))],
    ['a master that does not tell', cluster({ ...master(1, 'a'), cluster: undefined })],
  ])('have another stamp with other %s', async (_, other) => {
    const client = cluster(master(1, 'a'));
    expect(await stampOf(cluster(master(1, 'a')))).toBe(await stampOf(client));
    expect(await stampOf(other)).not.toBe(await stampOf(client));
  });

  it('are known by their own lines, whatever the order of the flags', async () => {
    const source = master(2, 'bb', '0-99 [42->-aa]', 1, 'master,myself');
    expect(await namesOf(cluster(master(1, 'aa'), source))).toEqual(['redis:2', 'redis:1']);
  });

  it('are there also where the server forbids CLUSTER NODES', async () => {
    const forbidden = { ...master(1, 'a'), cluster: () => Promise.reject(new Error('NOPERM')) };
    const silent = { ...master(2, 'b'), cluster: undefined };
    expect(await namesOf(cluster(silent, forbidden))).toEqual(['redis:1', 'redis:2']);
  });

  it('are found by a command, where the client has not connected yet', async () => {
    const client = cluster();
    const masters = [master(1, 'a')];
    client.scan = async () => {
      client.nodes = () => masters;
      return ['0', []];
    };
    expect(await namesOf(client)).toEqual(['redis:1']);
    client.scan = () => Promise.reject(new Error('not needed'));
    expect(await namesOf(client)).toEqual(['redis:1']);
  });

  it('fail with the command that looks for them', async () => {
    const client = cluster();
    client.scan = () => Promise.reject(new Error('Connection is closed.'));
    expect(await rejectionOf(layout(client))).toMatchObject({ message: expect.stringContaining('Connection is closed') }); // prettier-ignore
    expect(await layout({ ...client, scan: undefined })).toMatchObject({ masters: [] });
  });
});

it.each([
  ['its run', async () => '# Server\r\nrun_id:abc123\r\n', 'abc123'],
  ['nothing of it', async () => '# Server\r\nother_run_id:abc\r\n', ''],
  ['an error', () => Promise.reject(new Error('NOPERM')), ''],
  ['no INFO', undefined, ''],
])('A master whose server tells %s has the run "%3$s"', async (_, info, expected) => {
  expect(await runIdOf({ name: '', client: { info } as never })).toBe(expected);
});
