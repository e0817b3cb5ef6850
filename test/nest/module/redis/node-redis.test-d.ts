// Compiled by `npm run typecheck`, never run: a line below that is wrongly accepted, or wrongly refused, is a compile error.
import { DistributedLockModule, RedisLockStore } from 'nest-holdfast';
import { RedlockStore } from 'nest-holdfast/redlock';
import { createClient, createCluster, createSentinel, createClientPool } from 'redis';
import { createCluster as createCluster6, createSentinel as createSentinel6 } from 'redis6';

const url = 'redis://localhost:6379';

DistributedLockModule.forRoot({ redis: createClient() });
DistributedLockModule.forRoot({ redis: createClient({ url, RESP: 3, modules: {} }) });
DistributedLockModule.forRoot({ redis: () => createClient({ url }).connect() });
DistributedLockModule.forRoot({ redis: [createClient({ url }), createClient({ url }), url] });
DistributedLockModule.forRootAsync({ useFactory: () => ({ redis: createClient({ url }) }) });

const sentinel = { name: 'locks', sentinelRootNodes: [{ host: 'localhost', port: 26_379 }] };
DistributedLockModule.forRoot({ redis: createSentinel(sentinel) });
DistributedLockModule.forRoot({ redis: () => createSentinel({ ...sentinel, RESP: 3 }).connect() });
DistributedLockModule.forRoot({ redis: createSentinel6(sentinel) });

const cluster = { rootNodes: [{ url }], defaults: { password: 'secret' } };
DistributedLockModule.forRoot({ redis: createCluster(cluster) });
DistributedLockModule.forRoot({ redis: () => createCluster({ ...cluster, RESP: 3 }).connect() });
DistributedLockModule.forRoot({ redis: createCluster6({ ...cluster, keyPrefix: 'app:' }) });
export const alone = new RedisLockStore(createCluster(cluster));

export const accepted = new RedlockStore([new RedisLockStore(createClient({ url }))]);

export const refused = [
  // @ts-expect-error -- a pool of node-redis
  new RedisLockStore(createClientPool()),
];
