import knex from 'knex';
import { MARIADB } from '../../lib/mariadb.mjs';
import { verrou } from '../../lib/verrou.mjs';

export default () =>
  verrou('mariadb', (port) => knex({ client: 'mysql2', connection: { ...MARIADB, port } }));
