// What PostgreSQL itself has: a lock of the session, which takes a connection for as long as it is held or waited for.
import { openPool } from '../../lib/postgres.mjs';

const CONNECTIONS = 32;
const LONGEST_WAIT = 5_000;
const KEY = 'hashtextextended($1, 0)';

export default () => {
  let pool;
  return [
    {
      name: 'pg_advisory_lock',
      library: 'pg',
      variant: 'default',
      config: `a pool of ${CONNECTIONS}: a connection for each lock that is held or waited for; lock_timeout`,
      package: 'pg',
      quick: true,
      features: ['postgres'],
      async setup(port) {
        pool = openPool(port, { max: CONNECTIONS, lock_timeout: LONGEST_WAIT });
      },
      async acquire(key, { wait }) {
        const connection = await pool.connect();
        try {
          const take = wait ? 'pg_advisory_lock' : 'pg_try_advisory_lock';
          const { rows } = await connection.query(`SELECT ${take}(${KEY}) AS taken`, [key]);
          if (rows[0].taken === false) throw new Error('not acquired');
        } catch (error) {
          connection.release();
          throw error;
        }
        return {
          async release() {
            await connection.query(`SELECT pg_advisory_unlock(${KEY})`, [key]);
            connection.release();
          },
        };
      },
      close: () => pool?.end(),
    },
  ];
};
