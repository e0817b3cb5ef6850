import Redlock from 'redlock4';
import { connectAll, Redis5 } from '../lib/clients.mjs';

export default () => [
  redlock('redlock4', { variant: 'default', config: 'defaults (retries after 200 ± 100 ms)' }),
  redlock('redlock4-tuned', {
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
    library: 'redlock 4',
    variant,
    config,
    package: 'redlock4',
    raw: 'raw5',
    quick: variant === 'best',
    features: ['wait', 'redlock'],
    async setup(...ports) {
      clients = await connectAll(Redis5, ports, clientOptions);
      lock = new Redlock(clients, settings);
      lock.on('clientError', () => {}); // the attempt rejects as well
    },
    async acquire(key, { ttl, wait }) {
      const retryCount = Math.max(1, Math.ceil(wait / retryDelay));
      const held = await lock.lockWithOptions(key, ttl, { retryCount });
      return { release: () => held.unlock() };
    },
    async close() {
      clients?.forEach((client) => client.disconnect());
    },
  };
}
