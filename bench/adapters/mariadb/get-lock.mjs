// What MariaDB and MySQL themselves have: a lock of the session, which takes a connection for as long as it is held or waited for.
import { openPool } from '../../lib/mariadb.mjs';

const CONNECTIONS = 32;

export default () => {
  let pool;
  return [
    {
      name: 'GET_LOCK',
      library: 'mysql2',
      variant: 'default',
      config: `a pool of ${CONNECTIONS}: a connection for each lock that is held or waited for`,
      package: 'mysql2',
      quick: true,
      features: ['mariadb'],
      async setup(port) {
        pool = openPool(port, { connectionLimit: CONNECTIONS });
      },
      async acquire(key, { wait }) {
        const connection = await pool.getConnection();
        try {
          const seconds = wait / 1_000;
          const [[row]] = await connection.query('SELECT GET_LOCK(?, ?) AS taken', [key, seconds]);
          if (row.taken !== 1) throw new Error('not acquired');
        } catch (error) {
          connection.release();
          throw error;
        }
        return {
          async release() {
            await connection.query('SELECT RELEASE_LOCK(?)', [key]);
            connection.release();
          },
        };
      },
      close: () => pool?.end(),
    },
  ];
};
