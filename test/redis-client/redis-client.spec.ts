import { clientKeyPrefix } from '../../lib/redis-client/redis-client.js';

const client = { evalsha: jest.fn(), eval: jest.fn(), wait: jest.fn() };

describe('The keyPrefix of a client', () => {
  it.each([
    ['is its own', { keyPrefix: 'app:' }, 'app:'],
    ['is that of the nodes of a Cluster', { redisOptions: { keyPrefix: 'node:' } }, 'node:'],
    [
      'is that of a Cluster rather than that of its nodes',
      { keyPrefix: 'app:', redisOptions: { keyPrefix: 'node:' } },
      'app:',
    ],
    ['is empty where the options name none', { redisOptions: {} }, ''],
    ['is empty where there are no redisOptions', {}, ''],
    ['is empty where there are no options', undefined, ''],
  ])('%s', (_, options, prefix) => {
    expect(clientKeyPrefix({ ...client, options })).toBe(prefix);
  });
});
