import { projectRequire } from './project.mjs';

const { LockService } = projectRequire('nest-holdfast');

/** The project with one of its stores: `open(...addresses)` makes the `store` and `close`s what it opened for it. */
export function holdfast(name, { open, ...candidate }) {
  let opened;
  let locks;
  return {
    name,
    library: 'nest-holdfast',
    variant: 'default',
    config: 'defaults',
    package: 'nest-holdfast',
    ...candidate,
    async setup(...addresses) {
      opened = await open(...addresses);
      locks = new LockService(opened.store);
    },
    async acquire(key, { ttl, wait, renew = false, onLost }) {
      const lock = await locks.acquire(key, { ttl, waitTimeout: wait, autoExtend: renew });
      if (onLost) lock.signal.addEventListener('abort', onLost);
      return { release: () => lock.release() };
    },
    async close() {
      await locks?.close();
      await opened?.close?.();
    },
  };
}
