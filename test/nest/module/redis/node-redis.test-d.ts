// Compiled by `npm run typecheck`, never run: a line below that is wrongly accepted, or wrongly refused, is a compile error.
import { DistributedLockModule, RedisLockStore } from 'nest-holdfast';
import { RedlockStore } from 'nest-holdfast/redlock';
import { createClient, createCluster, createSentinel, createClientPool } from 'redis';
import { createSentinel as createSentinel6 } from 'redis6';

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

export const accepted = new RedlockStore([new RedisLockStore(createClient({ url }))]);

export const refused = [
  // @ts-expect-error -- a Cluster of node-redis
  new RedisLockStore(createCluster({ rootNodes: [{ url }] })),
  // @ts-expect-error -- a pool of node-redis
  new RedisLockStore(createClientPool()),
];
