// The project itself, as `npm run build` left it.
import { connectAll, Redis5, Redis6 } from '../lib/clients.mjs';
import { projectRequire } from '../lib/project.mjs';

const { LockService, RedisLockStore } = projectRequire('nest-holdfast');

export default () => [
  holdfast('holdfast', { Redis: Redis6, config: 'defaults, ioredis 6', quick: true }),
  holdfast('holdfast-ioredis5', { Redis: Redis5, config: 'defaults, ioredis 5' }),
  holdfast('holdfast-strict', {
    Redis: Redis6,
    storeOptions: { localPassLimit: 0 },
    config: 'localPassLimit: 0, ioredis 6',
    quick: true,
  }),
];

function holdfast(name, { Redis, storeOptions = {}, config, quick = false }) {
  let clients;
  let locks;
  return {
    name,
    library: 'nest-holdfast',
    variant: storeOptions.localPassLimit === 0 ? 'strict' : 'default',
    config,
    package: 'nest-holdfast',
    raw: Redis === Redis6 ? 'raw6' : 'raw5',
    quick,
    features: ['wait', 'redlock', ...(name === 'holdfast' ? ['renew'] : [])], // renewed alike in all of them
    keyPrefix: 'lock:',
    async setup(...ports) {
      clients = await connectAll(Redis, ports);
      const nodes = clients.map((client) => new RedisLockStore(client, storeOptions));
      locks = new LockService(nodes.length > 1 ? redlock(nodes) : nodes[0]);
    },
    async acquire(key, { ttl, wait, renew = false, onLost }) {
      const lock = await locks.acquire(key, { ttl, waitTimeout: wait, autoExtend: renew });
      if (onLost) lock.signal.addEventListener('abort', onLost);
      return { release: () => lock.release() };
    },
    async close() {
      await locks?.close();
      clients?.forEach((client) => client.disconnect());
    },
  };
}

function redlock(nodes) {
  const { RedlockStore } = projectRequire('nest-holdfast/redlock');
  return new RedlockStore(nodes);
}
