import { createConnection, createPool } from 'mysql2/promise';
import type { ResultSetHeader, RowDataPacket } from 'mysql2';
import { Client, Pool } from 'pg';
import {
  RedisFencingGate,
  fenceColumnDdl,
  fenced,
  fencingHeaders,
} from '../../lib/fencing/index.js';
import type { FencedHolder } from '../../lib/fencing/index.js';
import { OwnClient } from '../stores/redis/locks.js';

/** Something that is written under a lock. Both processes of the test have one, and it is the same thing. */
export interface Resource {
  /** Rejects with an error that has a `code` when the write was refused. */
  write(holder: FencedHolder, value: string): Promise<unknown>;
  read(): Promise<unknown>;
  close(): Promise<unknown>;
}

export const KINDS = ['PostgreSQL', 'MariaDB', 'Redis', 'Express', 'Nest', 'unfenced'] as const;
export type Kind = (typeof KINDS)[number];
/** Where each of them is. */
export type Urls = Readonly<Record<Kind, string>>;

const OPEN: Readonly<Record<Kind, (url: string) => Resource>> = {
  PostgreSQL: postgres,
  MariaDB: mariaDb,
  Redis: redis,
  Express: http,
  Nest: http,
  unfenced,
};

export function open(kind: Kind, urls: Urls): Resource {
  return OPEN[kind](urls[kind]);
}

/** The table that both databases get, with one row. */
export async function createTable(kind: 'PostgreSQL' | 'MariaDB', url: string): Promise<void> {
  const column = fenceColumnDdl(kind === 'MariaDB' ? 'mysql' : 'pg');
  const table = `CREATE TABLE orders (id VARCHAR(20) PRIMARY KEY, value VARCHAR(20), ${column})`;
  const row = "INSERT INTO orders (id, value) VALUES ('42', 'new')";
  if (kind === 'MariaDB') {
    const connection = await createConnection(url);
    for (const sql of [table, row]) await connection.query(sql);
    await connection.end();
  } else {
    const client = new Client(url);
    await client.connect();
    for (const sql of [table, row]) await client.query(sql);
    await client.end();
  }
}

function postgres(url: string): Resource {
  const pool = new Pool({ connectionString: url, max: 1 });
  pool.on('error', () => {}); // a connection that is still closing when the server stops
  return {
    async write(holder, value) {
      const fence = fenced.pg(holder);
      const result = await pool.query(
        `UPDATE orders SET value = $2, ${fence.set} WHERE id = $3 AND ${fence.where}`,
        [fence.value, value, '42'],
      );
      await fence.assertWritten(result, async () => {
        const { rows } = await pool.query(`SELECT ${fence.select} FROM orders WHERE id = '42'`);
        return rows[0] as object | undefined;
      });
    },
    async read() {
      const { rows } = await pool.query<{ value: string }>('SELECT value FROM orders');
      return rows[0]!.value;
    },
    close: () => pool.end(),
  };
}

function mariaDb(url: string): Resource {
  const pool = createPool({ uri: url, connectionLimit: 1 });
  return {
    async write(holder, value) {
      const fence = fenced.mysql(holder);
      const result = await pool.execute<ResultSetHeader>(
        `UPDATE orders SET value = ?, ${fence.set} WHERE id = ? AND ${fence.where}`,
        [value, fence.value, '42', fence.value],
      );
      await fence.assertWritten(result, async () => {
        const query = `SELECT ${fence.select} FROM orders WHERE id = '42'`;
        const [rows] = await pool.query<RowDataPacket[]>(query);
        return rows[0];
      });
    },
    async read() {
      const [rows] = await pool.query<RowDataPacket[]>('SELECT value FROM orders');
      return rows[0]!['value'] as string;
    },
    close: () => pool.end(),
  };
}

function redis(url: string): Resource {
  const client = new OwnClient(url);
  const gate = new RedisFencingGate(client.redis);
  return {
    write: (holder, value) => gate.call(holder, 'fenced', 'SET', value),
    read: () => client.redis.get('fenced'),
    close: () => client[Symbol.asyncDispose](),
  };
}

/** A resource that does not check tokens. */
function unfenced(url: string): Resource {
  const client = new OwnClient(url);
  return {
    write: (_holder, value) => client.redis.set('unfenced', value),
    read: () => client.redis.get('unfenced'),
    close: () => client[Symbol.asyncDispose](),
  };
}

function http(url: string): Resource {
  return {
    async write(holder, value) {
      const headers = fencingHeaders(holder);
      const response = await fetch(`${url}/orders/42/${value}`, { method: 'PUT', headers });
      if (response.ok) return;
      const { code } = (await response.json()) as { code: string };
      throw Object.assign(new Error('refused'), { code: `${response.status} ${code}` });
    },
    read: async () => (await fetch(`${url}/orders/42`)).text(),
    close: async () => {},
  };
}
