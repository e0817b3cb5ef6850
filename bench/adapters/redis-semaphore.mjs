import semaphore from 'redis-semaphore';
import { connectAll, Redis5 } from '../lib/clients.mjs';

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
  let clients;
  return {
    name,
    library: 'redis-semaphore',
    variant,
    config,
    package: 'redis-semaphore',
    raw: 'raw5',
    quick: variant === 'best',
    features: ['wait', 'renew', 'redlock'],
    keyPrefix: 'mutex:',
    async setup(...ports) {
      clients = await connectAll(Redis5, ports, clientOptions);
    },
    async acquire(key, { ttl, wait, renew, onLost = () => {} }) {
      const options = {
        lockTimeout: ttl,
        acquireTimeout: Math.max(1_000, wait),
        onLockLost: onLost,
        ...(renew ? {} : noRenewal),
      };
      const held =
        clients.length > 1
          ? new semaphore.RedlockMutex(clients, key, options)
          : new semaphore.Mutex(clients[0], key, options);
      await held.acquire();
      return { release: () => held.release() };
    },
    async close() {
      clients?.forEach((client) => client.disconnect());
    },
  };
}
