import { Pool, type PoolConfig } from 'pg';

/** A pool that bears the end of its server: `pool.end()` resolves before its connections are closed. */
export function openPool(connectionString: string, config: PoolConfig = {}): Pool {
  const pool = new Pool({ connectionString, ...config });
  pool.on('error', () => {});
  return pool;
}
