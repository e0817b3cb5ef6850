import { projectRequire } from './project.mjs';

const { LockService } = projectRequire('nest-holdfast');

/**
 * The project with one of its stores: `open(...addresses)` makes the `store` and `close`s what it opened for it. With `renews`
 * every lock extends itself, as it does by default; without, those alone whose renewal is measured, as those of the peers.
 */
export function holdfast(name, { open, renews = false, ...candidate }) {
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
    async acquire(key, { ttl, wait, renew = renews, onLost }) {
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
