import { RedisLockStore } from 'nest-holdfast';
import { rejectionOf } from '../../core/support/outcome.js';
import { RedisServer } from '../../support/servers/redis-server.js';
import { OwnClient } from './locks.js';

const VALUES = [undefined, null, '', 'QUEUED', 17, {}, []];
const INFOS = [
  ...VALUES,
  'run_id:a',
  'uptime_in_seconds:1',
  'run_id:a\r\nuptime_in_seconds:soon',
  'run_id:\r\nuptime_in_seconds:1',
];
const TIMES = [...VALUES, [1], [1, 2, 3], ['now', '0'], [1.5, 0], [null, null]];
const named = (each: unknown) => [JSON.stringify(each) ?? 'undefined', each] as const;

describe('What a Redis server says of itself', () => {
  let server: RedisServer;
  let client: OwnClient;
  let store: RedisLockStore;

  beforeAll(async () => {
    server = await RedisServer.shared();
    client = new OwnClient(server.url);
    store = new RedisLockStore(client.redis);
  });

  afterEach(() => jest.restoreAllMocks());

  afterAll(async () => {
    await client[Symbol.asyncDispose]();
    await server.stop();
  });

  const vitals = () => store.server!.vitals();
  const NOT_UNDERSTOOD = { message: expect.stringContaining('not understood') };

  it('is its run, its age and its time', async () => {
    expect(await vitals()).toEqual({
      runId: expect.stringMatching(/^[0-9a-f]{40}$/),
      upFor: expect.any(Number),
      time: expect.any(Number),
    });
  });

  it.each(INFOS.map(named))('is nothing when INFO answers %s', async (_, info) => {
    jest.spyOn(client.redis, 'info').mockResolvedValue(info as string);
    expect(await rejectionOf(vitals())).toMatchObject(NOT_UNDERSTOOD);
  });

  it.each(TIMES.map(named))('is nothing when TIME answers %s', async (_, time) => {
    jest.spyOn(client.redis, 'time').mockResolvedValue(time as number[]);
    expect(await rejectionOf(vitals())).toMatchObject(NOT_UNDERSTOOD);
  });
});
