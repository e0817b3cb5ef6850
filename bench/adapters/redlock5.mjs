import Redlock from 'redlock5';
import { connectAll, Redis5 } from '../lib/clients.mjs';
import { usingHandle } from '../lib/using-handle.mjs';

export default () => [
  redlock('redlock5', { variant: 'default', config: 'defaults (retries after 200 ± 100 ms)' }),
  redlock('redlock5-tuned', {
    variant: 'best',
    settings: { retryDelay: 10, retryJitter: 5 },
    clientOptions: { enableAutoPipelining: true },
    config: 'retryDelay: 10, retryJitter: 5, client with enableAutoPipelining',
  }),
];

function redlock(name, { variant, settings = {}, clientOptions, config }) {
  const { retryDelay = 200 } = settings;
  let clients;
  let lock;
  return {
    name,
    library: 'redlock 5',
    variant,
    config,
    package: 'redlock5',
    raw: 'raw5',
    quick: variant === 'best',
    features: ['wait', 'renew', 'redlock'],
    keyPrefix: '',
    async setup(...ports) {
      clients = await connectAll(Redis5, ports, clientOptions);
      lock = new (Redlock.default ?? Redlock)(clients, settings);
    },
    async acquire(key, { ttl, wait, renew, onLost }) {
      const retry = { retryCount: Math.ceil(wait / retryDelay) };
      if (renew) return usingHandle((routine) => lock.using([key], ttl, retry, routine), onLost);
      const held = await lock.acquire([key], ttl, retry);
      return { release: () => lock.release(held, { retryCount: 0 }) };
    },
    async close() {
      clients?.forEach((client) => client.disconnect());
    },
  };
}
