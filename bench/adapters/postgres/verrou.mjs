import knex from 'knex';
import { POSTGRES } from '../../lib/postgres.mjs';
import { verrou } from '../../lib/verrou.mjs';

export default () =>
  verrou('postgres', (port) => knex({ client: 'pg', connection: { ...POSTGRES, port } }));
