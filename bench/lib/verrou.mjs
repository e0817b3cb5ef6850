import { LockFactory } from '@verrou/core';
import { knexStore } from '@verrou/core/drivers/knex';

/** Verrou's Knex store as it comes, and with a delay that is as short as the other pollers' here. `open` makes the Knex. */
export function verrou(system, open, on = 'Knex store') {
  const tuned = {
    variant: 'best',
    retry: { delay: 10 },
    config: `${on}, retry: { delay: 10 }`,
  };
  const config = `${on}, defaults (retries after 250 ms)`;
  return [
    candidate(`verrou-${system}`, { system, open, variant: 'default', config }),
    candidate(`verrou-${system}-tuned`, { system, open, ...tuned }),
  ];
}

function candidate(name, { system, open, variant, retry, config }) {
  let knex;
  let factory;
  return {
    name,
    library: 'Verrou',
    variant,
    config,
    package: '@verrou/core',
    quick: variant === 'best',
    features: [system],
    async setup(address) {
      knex = open(address);
      factory = new LockFactory(knexStore({ connection: knex }).factory(), { retry });
    },
    async acquire(key, { ttl, wait }) {
      const lock = factory.createLock(key, ttl);
      const isTaken = wait
        ? await lock.acquire({ retry: { timeout: wait } })
        : await lock.acquireImmediately();
      if (!isTaken) throw new Error('not acquired');
      return { release: () => lock.release() };
    },
    close: () => knex?.destroy(),
  };
}
