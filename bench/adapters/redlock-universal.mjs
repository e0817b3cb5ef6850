import { createLock, IoredisAdapter } from 'redlock-universal';
import { connect, Redis5 } from '../lib/clients.mjs';
import { usingHandle } from '../lib/using-handle.mjs';

export default () => [
  universal('redlock-universal', {
    variant: 'default',
    config: 'defaults (retries after 100 ms)',
  }),
  universal('redlock-universal-tuned', {
    variant: 'best',
    settings: { performance: 'lean', retryDelay: 10 },
    clientOptions: { enableAutoPipelining: true },
    config: "performance: 'lean', retryDelay: 10, client with enableAutoPipelining",
  }),
];

function universal(name, { variant, settings = {}, clientOptions, config }) {
  const { retryDelay = 100 } = settings;
  let client;
  let adapter;
  return {
    name,
    library: 'redlock-universal',
    variant,
    config,
    package: 'redlock-universal',
    raw: 'raw5',
    quick: variant === 'best',
    features: ['wait', 'renew'],
    keyPrefix: '',
    async setup(port) {
      client = await connect(Redis5, port, clientOptions);
      adapter = new IoredisAdapter(client);
    },
    async acquire(key, { ttl, wait, renew, onLost }) {
      const retryAttempts = Math.ceil(wait / retryDelay);
      const lock = createLock({ adapter, key, ttl, retryAttempts, ...settings });
      if (renew) return usingHandle((routine) => lock.using(routine), onLost);
      const handle = await lock.acquire();
      return {
        async release() {
          if (!(await lock.release(handle))) throw new Error('release returned false');
        },
      };
    },
    async close() {
      client?.disconnect();
    },
  };
}
