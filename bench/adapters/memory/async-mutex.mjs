// One process needs no server, and no time to live: a mutex for each key that is in use.
import { Mutex, withTimeout } from 'async-mutex';

export default () => {
  const mutexes = new Map();
  return [
    {
      name: 'async-mutex',
      library: 'async-mutex',
      variant: 'default',
      config: 'a Map of mutexes, each while it is in use',
      package: 'async-mutex',
      quick: true,
      features: ['memory'],
      async setup() {},
      async acquire(key, { wait }) {
        let mutex = mutexes.get(key);
        if (!mutex) mutexes.set(key, (mutex = new Mutex()));
        if (!wait && mutex.isLocked()) throw new Error('not acquired');
        const unlock = await (wait ? withTimeout(mutex, wait) : mutex).acquire();
        return {
          async release() {
            unlock();
            if (!mutex.isLocked()) mutexes.delete(key);
          },
        };
      },
      async close() {},
    },
  ];
};
