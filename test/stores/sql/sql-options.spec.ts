import { readFile } from 'node:fs/promises';
import {
  type SqlClient,
  SqlLockStore,
  type SqlLockStoreOptions,
  lockTableDdl,
} from 'nest-holdfast/sql';

const postgres = { query: async () => ({ rows: [] }) };
const dialects = ['postgres', 'mysql', 'sqlite'] as const;

describe('The options of SqlLockStore', () => {
  it.each(
    [
      [
        '',
        'a-b',
        '1st',
        'a b',
        'a.b',
        'a"b',
        'a`b',
        "a'b",
        'x; DROP TABLE users',
        'tablé',
        'x'.repeat(64),
      ],
      [42, null, {}],
    ].flat(),
  )('refuse %p as a table or a schema', (name) => {
    for (const option of ['table', 'schema'] as const) {
      const options = { [option]: name } as SqlLockStoreOptions;
      expect(() => new SqlLockStore({ postgres }, options)).toThrow(TypeError);
      expect(() => new SqlLockStore({ postgres }, options)).toThrow(`${option} must be at most 63`);
      for (const dialect of dialects)
        expect(() => lockTableDdl(dialect, options)).toThrow(TypeError);
    }
  });

  it.each([
    ['postgres', '"app"."my_locks"'],
    ['mysql', '`app`.`my_locks`'],
    ['sqlite', '"app"."my_locks"'],
  ] as const)('quote the names for %s', (dialect, quoted) => {
    const ddl = lockTableDdl(dialect, { table: 'my_locks', schema: 'app' });
    expect(ddl).toContain(`CREATE TABLE IF NOT EXISTS ${quoted} (`);
  });

  it('are shown in the documentation with the table that they make', async () => {
    const page = await readFile('docs/stores/sql.md', 'utf8');
    expect(page).toContain(`${lockTableDdl('postgres')};`);
  });

  it('refuse what is no client, and say what they expect', () => {
    const bad: [unknown, string][] = [
      [undefined, 'SqlLockStore expects { postgres: pool }'],
      [{}, 'got an object'],
      [Buffer.alloc(100_000), 'got an object'],
      [{ oracle: postgres }, 'got { oracle }'],
      [{ postgres, mysql: postgres }, 'got { postgres, mysql }'],
      [{ postgres: 'postgresql://localhost' }, 'postgres must be a pg.Pool'],
      [{ mysql: {} }, 'mysql must be a pool of mysql2'],
      [{ sqlite: { prepare: () => {} } }, 'no method `exec`'],
    ];
    for (const [client, message] of bad) {
      expect(() => new SqlLockStore(client as SqlClient)).toThrow(TypeError);
      expect(() => new SqlLockStore(client as SqlClient)).toThrow(message);
    }
  });

  it('refuse a listen and a prepare of another type, and a dialect that is none', () => {
    const withOptions = (options: object) => () => new SqlLockStore({ postgres }, options);
    expect(withOptions({ listen: true })).toThrow('listen must be false or a function');
    expect(withOptions({ prepare: 'yes' })).toThrow('prepare must be a boolean');
    expect(() => lockTableDdl('oracle' as 'mysql')).toThrow('dialect must be');
  });

  it('leave waiting to polling where there is nothing to listen with', () => {
    expect(new SqlLockStore({ postgres }).acquire).toBeUndefined();
    expect(new SqlLockStore({ mysql: postgres as never }).acquire).toBeUndefined();
  });
});
