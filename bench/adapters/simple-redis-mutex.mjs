// Works with node-redis only.
import { createClient } from 'redis';
import { lock } from 'simple-redis-mutex';

export default () => [
  mutex('simple-redis-mutex', {
    variant: 'default',
    config: 'defaults, node-redis (pub/sub; polls every 10 s as well)',
  }),
  mutex('simple-redis-mutex-tuned', {
    variant: 'best',
    settings: { pollingInterval: 1_000 },
    config: 'pollingInterval: 1_000, node-redis (pub/sub)',
  }),
];

function mutex(name, { variant, settings = {}, config }) {
  let client;
  return {
    name,
    library: 'simple-redis-mutex',
    variant,
    config,
    package: 'simple-redis-mutex',
    raw: 'raw5',
    quick: variant === 'best',
    features: ['wait'],
    async setup(port) {
      client = createClient({ socket: { host: '127.0.0.1', port } });
      client.on('error', () => {}); // lost connections are part of some scenarios
      await client.connect();
    },
    async acquire(key, { ttl, wait }) {
      const limit = wait ? { failAfter: wait } : {};
      const release = await lock(client, key, { timeout: ttl, ...limit, ...settings });
      return { release };
    },
    async close() {
      client?.destroy();
    },
  };
}
