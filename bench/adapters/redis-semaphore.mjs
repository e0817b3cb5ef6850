import semaphore from 'redis-semaphore';
import { connect, Redis5 } from '../lib/clients.mjs';

export default () => [
  mutex('redis-semaphore', {
    variant: 'default',
    config: 'defaults (retries after 10 ms; always renews)',
  }),
  mutex('redis-semaphore-tuned', {
    variant: 'best',
    clientOptions: { enableAutoPipelining: true },
    noRenewal: { refreshInterval: 0 },
    config: 'renews only where that is measured, client with enableAutoPipelining',
  }),
];

function mutex(name, { variant, clientOptions, noRenewal, config }) {
  let client;
  return {
    name,
    library: 'redis-semaphore',
    variant,
    config,
    package: 'redis-semaphore',
    raw: 'raw5',
    quick: variant === 'best',
    features: ['wait', 'renew'],
    keyPrefix: 'mutex:',
    async setup(port) {
      client = await connect(Redis5, port, clientOptions);
    },
    async acquire(key, { ttl, wait, renew, onLost = () => {} }) {
      const held = new semaphore.Mutex(client, key, {
        lockTimeout: ttl,
        acquireTimeout: Math.max(1_000, wait),
        onLockLost: onLost,
        ...(renew ? {} : noRenewal),
      });
      await held.acquire();
      return { release: () => held.release() };
    },
    async close() {
      client?.disconnect();
    },
  };
}
