import { Pool } from 'pg';

export const POSTGRES = { host: '127.0.0.1', user: 'postgres', database: 'postgres' };

export function openPool(port, settings = {}) {
  const pool = new Pool({ ...POSTGRES, port, ...settings });
  pool.on('error', () => {}); // its server ends before it
  return pool;
}
