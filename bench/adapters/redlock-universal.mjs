import { createLock, createRedlock, IoredisAdapter } from 'redlock-universal';
import { connectAll, Redis5 } from '../lib/clients.mjs';
import { usingHandle } from '../lib/using-handle.mjs';

export default () => [
  universal('redlock-universal', {
    variant: 'default',
    config: 'defaults (retries after 100 ms, on several servers 200 ms)',
  }),
  universal('redlock-universal-tuned', {
    variant: 'best',
    settings: { performance: 'lean', retryDelay: 10 },
    clientOptions: { enableAutoPipelining: true },
    nodeOptions: { timeout: 250 },
    config:
      "performance: 'lean', retryDelay: 10, on several servers timeout: 250, client with enableAutoPipelining",
  }),
];

function universal(name, { variant, settings = {}, clientOptions, nodeOptions, config }) {
  let clients;
  let adapters;
  return {
    name,
    library: 'redlock-universal',
    variant,
    config,
    package: 'redlock-universal',
    raw: 'raw5',
    quick: variant === 'best',
    features: ['wait', 'renew', 'redlock'],
    keyPrefix: '',
    async setup(...ports) {
      clients = await connectAll(Redis5, ports, clientOptions);
      const options = ports.length > 1 ? nodeOptions : undefined;
      adapters = clients.map((client) => new IoredisAdapter(client, options));
    },
    async acquire(key, { ttl, wait, renew, onLost }) {
      const isRedlock = adapters.length > 1;
      const { retryDelay = isRedlock ? 200 : 100 } = settings;
      const request = { key, ttl, retryAttempts: Math.ceil(wait / retryDelay), ...settings };
      const lock = isRedlock
        ? createRedlock({ adapters, ...request })
        : createLock({ adapter: adapters[0], ...request });
      if (renew) return usingHandle((routine) => lock.using(routine), onLost);
      const handle = await lock.acquire();
      return {
        async release() {
          if (!(await lock.release(handle))) throw new Error('release returned false');
        },
      };
    },
    async close() {
      clients?.forEach((client) => client.disconnect());
    },
  };
}
