import knex, { type Knex } from 'knex';
import { DataSource, EntitySchema } from 'typeorm';
import {
  type FencedHolder,
  FencedRowMissingError,
  LockStaleError,
  fenceColumnDdl,
  fenced,
} from '../../lib/fencing/index.js';
import { MariaDbServer } from '../support/servers/mariadb-server.js';
import { PostgresServer } from '../support/servers/postgres-server.js';

const of = (fencingToken: bigint): FencedHolder => ({
  key: 'account:7',
  fencingToken,
});
/** Next to each other, and equal in floating point. */
const [EVEN, ODD] = [2n ** 53n, 2n ** 53n + 1n];

interface Account {
  readonly id: number;
  readonly balance: number;
  readonly lockFence: string;
}

const AccountEntity = new EntitySchema<Account>({
  name: 'account',
  columns: {
    id: { type: 'int', primary: true },
    balance: { type: 'int' },
    lockFence: { type: 'bigint', default: 0 },
  },
});

describe.each([
  { Server: PostgresServer, client: 'pg', type: 'postgres', dialect: 'pg' },
  { Server: MariaDbServer, client: 'mysql2', type: 'mysql', dialect: 'mysql' },
] as const)('With $client', ({ Server, client, type, dialect }) => {
  let server: PostgresServer | MariaDbServer;
  let database: Knex;
  let source: DataSource;

  beforeAll(async () => {
    server = await Server.start();
    // Both drivers read a BIGINT as text then.
    const bigNumbers = { supportBigNumbers: true, bigNumberStrings: true };
    const connection = dialect === 'mysql' ? { uri: server.url, ...bigNumbers } : server.url;
    database = knex({ client, connection });
    source = await new DataSource({ type, url: server.url, entities: [AccountEntity], ...bigNumbers }).initialize(); // prettier-ignore
    const column = fenceColumnDdl(dialect, { column: 'lockFence' });
    await database.raw(`CREATE TABLE account (id INT PRIMARY KEY, balance INT, ${column})`);
  });

  beforeEach(async () => {
    await database('account').delete();
    await database('account').insert({ id: 7, balance: 0 });
  });

  afterAll(async () => {
    await source.destroy();
    await database.destroy();
    await server.stop();
  });

  const byKnex = async (holder: FencedHolder, balance: number, id = 7) => {
    const fence = fenced.knex(holder, { column: 'lockFence' });
    const rows = database<Account>('account').where({ id });
    const written = await rows
      .clone()
      .whereRaw(...fence.where)
      .update({ balance, ...fence.set });
    return fence.assertWritten(written, async () => rows.first());
  };

  const byTypeOrm = async (holder: FencedHolder, balance: number, id = 7) => {
    const fence = fenced.typeorm(holder, { column: 'lockFence' });
    const accounts = source.getRepository(AccountEntity);
    const update = accounts
      .createQueryBuilder()
      .update()
      .set({ balance, ...fence.set });
    const result = await update
      .where({ id })
      .andWhere(...fence.where)
      .execute();
    return fence.assertWritten(result, () => accounts.findOneBy({ id }));
  };

  it.each([
    ['Knex', byKnex],
    ['TypeORM', byTypeOrm],
  ])('%s refuses the stale ones, exactly, and tells a missing row', async (_, write) => {
    expect(await write(of(5n), 10)).toBe(true);
    expect(await write(of(5n), 20)).toBe(true);
    await expect(write(of(4n), 30)).rejects.toThrow(LockStaleError);
    expect(await write(of(ODD), 40)).toBe(true);
    await expect(write(of(EVEN), 50)).rejects.toMatchObject({ newest: ODD });
    await expect(write(of(ODD), 60, 8)).rejects.toThrow(FencedRowMissingError);
    expect(await database('account').first('balance')).toEqual({
      balance: 40,
    });
  });
});
