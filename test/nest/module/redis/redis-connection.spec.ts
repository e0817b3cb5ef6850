import { Logger } from '@nestjs/common';
import { Cluster, Redis } from 'ioredis';
import { connectRedis } from '../../../../lib/nest/module/redis/redis-connection';
import { clientOptions, clusterOptions } from '../../../../lib/nest/module/redis/redis-defaults';
import { connectAll } from '../../../../lib/nest/module/redis/redis-nodes';
import { rejectionOf } from '../../../core/support/outcome';

const LAZY = { lazyConnect: true };
const connect = (source: unknown, option = 'redis') => connectRedis(source as never, option, {});

describe('The options of a client that a module makes', () => {
  it('give a socket up after twice the silence of a server', () => {
    expect(clientOptions({ db: 1 }, {})).toEqual({ socketTimeout: 8_000, db: 1 });
    const limits = { silenceTimeout: 500, replicaTimeout: 100 };
    expect(clientOptions({}, limits)).toEqual({ socketTimeout: 1_200 });
    expect(clientOptions({ socketTimeout: 5 }, {})).toEqual({ socketTimeout: 5 });
    expect(clientOptions({}, { silenceTimeout: Infinity })).toEqual({});
  });

  it('notice failovers of Sentinels', () => {
    const sentinels = [{ host: 'h' }];
    expect(clientOptions({ sentinels }, {})).toMatchObject({ sentinels, failoverDetector: true });
    expect(clientOptions({ sentinels, failoverDetector: false }, {})).toMatchObject({ failoverDetector: false }); // prettier-ignore
  });

  it('are those of the nodes of a Cluster', () => {
    const redisOptions = { password: 'p', socketTimeout: 5 };
    expect(clusterOptions({ lazyConnect: true }, {})).toEqual({ lazyConnect: true, redisOptions: { socketTimeout: 8_000 } }); // prettier-ignore
    expect(clusterOptions({ redisOptions }, {})).toEqual({ redisOptions });
  });
});

describe('The client that `redis` leads to', () => {
  it('is the one that is given, which stays open', async () => {
    const client = new Redis(LAZY);
    const quit = jest.spyOn(client, 'quit');
    const found = await connect(client);
    expect(found.client).toBe(client);
    await found.close();
    expect(quit).not.toHaveBeenCalled();
  });

  it('is the one that a function makes, which is closed', async () => {
    const client = new Redis(LAZY);
    const quit = jest.spyOn(client, 'quit').mockResolvedValue('OK');
    const found = await connect(async () => client);
    expect(found.client).toBe(client);
    await found.close();
    expect(quit).toHaveBeenCalledTimes(1);
  });

  it('is made of options', async () => {
    const { client } = await connect({ ...LAZY, host: 'h', port: 7_000 });
    expect((client as Redis).options).toMatchObject({
      host: 'h',
      port: 7_000,
      socketTimeout: 8_000,
    });
    const cluster = await connect({ ...LAZY, cluster: [{ host: 'h', port: 7_001 }] });
    expect(cluster.client).toBeInstanceOf(Cluster);
    expect(Reflect.get(cluster.client, 'startupNodes')).toEqual([{ host: 'h', port: 7_001 }]);
  });

  it.each([
    ['redis', 5, 'redis must be a URL, options of ioredis, a client, a function or a list of these, got 5'], // prettier-ignore
    ['redis', '', 'redis must be a URL, options of ioredis, a client, a function or a list of these, got the string ""'], // prettier-ignore
    ['redis[1]', null, 'redis[1] must be a URL, options of ioredis, a client or a function, got null'], // prettier-ignore
    [
      'redis[1]',
      [],
      /^redis\[1\] must be a URL, options of ioredis, a client or a function, got an/,
    ],
    ['redis', () => 5, 'redis must return a client of ioredis or node-redis, got 5'],
    ['redis', { cluster: [] }, 'redis.cluster must be a list of nodes: [{ host, port }]'],
    ['redis', { cluster: 'h' }, 'redis.cluster must be a list of nodes: [{ host, port }]'],
    ['redis', { cluster: [null] }, 'redis.cluster must be a list of nodes: [{ host, port }]'],
    ['redis', { cluster: [{}, null] }, 'redis.cluster must be a list of nodes: [{ host, port }]'],
    ['redis', { cluster: [{}], sentinels: [{}] }, 'give either redis.cluster or redis.sentinels, not both'], // prettier-ignore
    ['redis', { sentinels: [] }, 'redis.sentinels must be a list of sentinels: [{ host, port }]'],
    ['redis', { sentinels: [true] }, 'redis.sentinels must be a list of sentinels: [{ host, port }]'], // prettier-ignore
    ['redis', { sentinels: [{}] }, 'redis.sentinels needs redis.name, what the sentinels call the master'], // prettier-ignore
    ['redis', { sentinels: [{}], name: '' }, 'redis.sentinels needs redis.name, what the sentinels call the master'], // prettier-ignore
    ['redis', 'http://h', /^redis must begin with redis:\/\/ or rediss:\/\/, got /],
    [
      'redis',
      'h:6379,password=secret',
      /^redis must begin with redis:\/\/ .*, got another string$/,
    ],
    ['redis', 'redis://h/x', /^redis has a URL that /],
    ['redis[2]', { cluster: [{}, 'redis://h/x'] }, /^redis\[2\].cluster\[1\] has a URL that /],
  ])('is none: %s of %j', async (option, source, expected) => {
    const { message } = await rejectionOf(connect(source, option));
    if (typeof expected === 'string') expect(message).toBe(expected);
    else expect(message).toMatch(expected);
  });

  it.each([
    [{ ...LAZY, sentinels: [{ host: 'h' }], name: 'primary' }],
    [{ ...LAZY, sentinels: undefined }],
    [{ ...LAZY, sentinels: null }],
    [{ ...LAZY, sentinls: undefined }],
    [{ ...LAZY, cluster: ['h:7000', 7_001, { host: 'h' }] }],
  ])('is one: %j', async (source) => {
    const { client } = await connect(source);
    (client as Redis).disconnect();
  });

  it('may be that of a socket', async () => {
    jest.spyOn(Logger.prototype, 'error').mockImplementation();
    const { client } = await connect('/no/such/socket');
    (client as Redis).disconnect();
    expect((client as Redis).options.path).toBe('/no/such/socket');
    jest.restoreAllMocks();
  });

  it.each([
    ['of one server', LAZY, 1],
    ['of a Cluster', { ...LAZY, cluster: [{ host: 'h' }] }, 0],
  ])('is left where it refuses its database: %s', async (_, source, times) => {
    jest.spyOn(Logger.prototype, 'error').mockImplementation();
    const { client } = await connect(source);
    const disconnect = jest.spyOn(client as Redis, 'disconnect').mockReturnValue();
    const refusal = Object.assign(new Error('ERR'), {
      name: 'ReplyError',
      command: { name: 'select' },
    });
    (client as Redis).emit('error', refusal);
    expect(disconnect).toHaveBeenCalledTimes(times);
    jest.restoreAllMocks();
  });

  it('tells the logger of Nest each error once, until it is connected', async () => {
    const told = jest.spyOn(Logger.prototype, 'error').mockImplementation();
    const { client } = await connect(LAZY);
    const emit = (error: string) => (client as Redis).emit('error', new Error(error));
    for (const error of ['ECONNREFUSED', 'ECONNREFUSED', 'ETIMEDOUT']) emit(error);
    (client as Redis).emit('ready');
    emit('ETIMEDOUT');
    expect(told.mock.calls.map(String)).toEqual([
      'Redis: ECONNREFUSED',
      'Redis: ETIMEDOUT',
      'Redis: ETIMEDOUT',
    ]);
    jest.restoreAllMocks();
  });
});

describe('The clients that a list leads to', () => {
  it('are as many, and closed together', async () => {
    const clients = [1, 2].map(() => new Redis(LAZY));
    const quits = clients.map((each) => jest.spyOn(each, 'quit').mockResolvedValue('OK'));
    const found = await connectAll(
      clients.map((each) => () => each),
      {},
    );
    expect(found.client).toEqual(clients);
    await found.close();
    for (const quit of quits) expect(quit).toHaveBeenCalledTimes(1);
  });

  it('are closed again where one is unusable, which the error names', async () => {
    const client = new Redis(LAZY);
    const quit = jest.spyOn(client, 'quit').mockResolvedValue('OK');
    const { message } = await rejectionOf(connectAll([() => client, 5 as never], {}));
    expect(message).toMatch(/^redis\[1\] must be /);
    expect(quit).toHaveBeenCalledTimes(1);
  });

  it('are one where there is no list', async () => {
    const client = new Redis(LAZY);
    expect((await connectAll(client, {})).client).toBe(client);
    expect((await rejectionOf(connectAll(5 as never, {}))).message).toMatch(
      /^redis must be .* a list/,
    );
  });
});
