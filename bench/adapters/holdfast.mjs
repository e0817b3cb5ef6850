// The project itself, as `npm run build` left it.
import { createClient } from 'redis';
import { connectAll, Redis5, Redis6 } from '../lib/clients.mjs';
import { holdfast } from '../lib/holdfast.mjs';
import { projectRequire } from '../lib/project.mjs';

const { RedisLockStore } = projectRequire('nest-holdfast');

export default () => [
  onRedis('holdfast', {
    Redis: Redis6,
    config: 'renews only where that is measured, ioredis 6',
    quick: true,
  }),
  onRedis('holdfast-ioredis5', {
    Redis: Redis5,
    config: 'renews only where that is measured, ioredis 5',
  }),
  onNodeRedis('holdfast-node-redis'),
  onRedis('holdfast-renewing', {
    Redis: Redis6,
    renews: true,
    config: 'defaults (always renews), ioredis 6',
  }),
  onRedis('holdfast-strict', {
    Redis: Redis6,
    storeOptions: { localPassLimit: 0 },
    config: 'localPassLimit: 0, ioredis 6',
    quick: true,
  }),
];

function onRedis(name, { Redis, storeOptions = {}, renews, config, quick = false }) {
  return holdfast(name, {
    variant: storeOptions.localPassLimit === 0 ? 'strict' : 'default',
    config,
    renews,
    raw: Redis === Redis6 ? 'raw6' : 'raw5',
    quick,
    // Renewed alike in all of them.
    features: renews ? [] : ['wait', 'redlock', ...(name === 'holdfast' ? ['renew'] : [])],
    keyPrefix: 'lock:',
    async open(...ports) {
      const clients = await connectAll(Redis, ports);
      const nodes = clients.map((client) => new RedisLockStore(client, storeOptions));
      return {
        store: nodes.length > 1 ? redlock(nodes) : nodes[0],
        close: () => clients.forEach((client) => client.disconnect()),
      };
    },
  });
}

/** On connections of its own, with the options of the client. */
function onNodeRedis(name) {
  return holdfast(name, {
    config: 'renews only where that is measured, node-redis 6',
    raw: 'raw6',
    features: ['wait'],
    keyPrefix: 'lock:',
    async open(port) {
      return { store: new RedisLockStore(createClient({ socket: { host: '127.0.0.1', port } })) };
    },
  });
}

function redlock(nodes) {
  const { RedlockStore } = projectRequire('nest-holdfast/redlock');
  return new RedlockStore(nodes);
}
