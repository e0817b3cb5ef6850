import mysql from 'mysql2/promise';

export const MARIADB = { host: '127.0.0.1', user: 'root', database: 'bench' };

export function openPool(port, settings = {}) {
  return mysql.createPool({ ...MARIADB, port, ...settings });
}
