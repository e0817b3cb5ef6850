import { holdfast } from '../../lib/holdfast.mjs';
import { openPool } from '../../lib/postgres.mjs';
import { projectRequire } from '../../lib/project.mjs';

const { SqlLockStore } = projectRequire('nest-holdfast/sql');

export default () => [
  onPostgres('holdfast-postgres', { config: 'defaults, pg.Pool with its own 10 connections' }),
  onPostgres('holdfast-postgres-prepared', {
    variant: 'best',
    storeOptions: { prepare: true },
    config: 'prepare: true, pg.Pool with its own 10 connections',
    quick: true,
  }),
];

function onPostgres(name, { storeOptions, ...candidate }) {
  return holdfast(name, {
    ...candidate,
    features: ['postgres'],
    async open(port) {
      const pool = openPool(port);
      const store = new SqlLockStore({ postgres: pool }, storeOptions);
      await store.createTable();
      return { store, close: () => pool.end() };
    },
  });
}
