import { holdfast } from '../../lib/holdfast.mjs';
import { openPool } from '../../lib/mariadb.mjs';
import { projectRequire } from '../../lib/project.mjs';

const { SqlLockStore } = projectRequire('nest-holdfast/sql');

export default () => [
  holdfast('holdfast-mariadb', {
    config: 'defaults, a pool of mysql2 with its own 10 connections',
    features: ['mariadb'],
    quick: true,
    async open(port) {
      const pool = openPool(port);
      const store = new SqlLockStore({ mysql: pool });
      await store.createTable();
      return { store, close: () => pool.end() };
    },
  }),
];
