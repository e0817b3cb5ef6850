// The lock of the etcd3 client: one attempt, with a lease of its own. A caller that wants to wait has to try again.
import { Etcd3, EtcdLockFailedError } from 'etcd3';
import { sleep } from '../../lib/time.mjs';

const DELAY = 10;

export default () => {
  let client;
  return [
    {
      name: 'etcd3-lock',
      library: 'etcd3',
      variant: 'default',
      config: `lock(): a lease for each attempt; tried again every ${DELAY} ms`,
      package: 'etcd3',
      quick: true,
      features: ['etcd'],
      async setup(port) {
        client = new Etcd3({ hosts: `127.0.0.1:${port}` });
      },
      async acquire(key, { ttl, wait }) {
        const end = performance.now() + wait;
        for (;;) {
          const lock = client.lock(key).ttl(Math.ceil(ttl / 1_000));
          try {
            await lock.acquire();
            return { release: () => lock.release() };
          } catch (error) {
            if (!(error instanceof EtcdLockFailedError) || performance.now() >= end) throw error;
            await sleep(DELAY);
          }
        }
      },
      async close() {
        client?.close();
      },
    },
  ];
};
