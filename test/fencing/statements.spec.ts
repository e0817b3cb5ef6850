import {
  type FencedHolder,
  FencedRowMissingError,
  LockStaleError,
  fenceColumnDdl,
  fenced,
} from '../../lib/fencing/index.js';

const HOLDER: FencedHolder = { key: 'order:42', fencingToken: 2n ** 53n + 1n };
const TOKEN = '9007199254740993';

describe('fenced', () => {
  it('pg: one placeholder, the token in text beside it', () => {
    expect(fenced.pg(HOLDER)).toMatchObject({
      set: '"fence" = $1',
      where: '"fence" <= $1',
      select: '"fence"::text AS "fence"',
      value: TOKEN,
    });
    expect(fenced.pg(HOLDER, { at: 3, column: 'lockFence' })).toMatchObject({
      set: '"lockFence" = $3',
      where: '"lockFence" <= $3',
    });
  });

  it('mysql: a placeholder in each part', () => {
    expect(fenced.mysql(HOLDER, { column: 'lock_fence' })).toMatchObject({
      set: '`lock_fence` = ?',
      where: '`lock_fence` <= CAST(? AS SIGNED)',
      select: 'CAST(`lock_fence` AS CHAR) AS `lock_fence`',
      value: TOKEN,
    });
  });

  it('knex: what update and whereRaw take', () => {
    expect(fenced.knex(HOLDER)).toMatchObject({
      set: { fence: TOKEN },
      where: ['?? <= CAST(? AS DECIMAL(20))', ['fence', TOKEN]],
    });
  });

  it('typeorm: what set and andWhere take', () => {
    expect(fenced.typeorm(HOLDER, { column: 'lockFence' })).toMatchObject({
      set: { lockFence: TOKEN },
      where: ['lockFence <= CAST(:fencingToken AS DECIMAL(20))', { fencingToken: TOKEN }],
    });
  });

  it('prisma: what data and where take, with bigints', () => {
    expect(fenced.prisma(HOLDER)).toMatchObject({
      set: { fence: HOLDER.fencingToken },
      where: { fence: { lte: HOLDER.fencingToken } },
    });
  });

  it('has the name of the column in the types', () => {
    const { set, where } = fenced.prisma(HOLDER, { column: 'lockFence' });
    set.lockFence satisfies bigint;
    where.lockFence.lte satisfies bigint;
    fenced.typeorm(HOLDER).set.fence satisfies string;
    // @ts-expect-error -- it is called lockFence
    expect(set.fence).toBeUndefined();
    // @ts-expect-error -- a number would lose digits
    expect(() => fenced.knex({ key: 'a', fencingToken: 1 })).toThrow(TypeError);
  });

  const LIBRARIES = Object.entries(fenced);

  it.each(LIBRARIES)('%s: refuses a column that is no plain name', (_, helper) => {
    const bad = [
      '',
      '1st',
      'a b',
      'a"b',
      'a`b',
      'fence = 0 --',
      'table.fence',
      'é',
      'x'.repeat(64),
    ];
    for (const column of [...bad, null, 42] as string[]) {
      expect(() => helper(HOLDER, { column })).toThrow(
        /: column must be a name of at most 63 letters/,
      );
    }
  });

  it.each(LIBRARIES)('%s: refuses a token that is none', (_, helper) => {
    const holder = (token: unknown) => ({ key: 'order:42', fencingToken: token as bigint });
    for (const token of [1, '1', undefined]) expect(() => helper(holder(token))).toThrow(TypeError);
    for (const token of [-1n, 2n ** 63n]) expect(() => helper(holder(token))).toThrow(RangeError);
  });

  it.each([0, 1.5, 65_536, '1'])('pg: refuses placeholder %p', (at) => {
    expect(() => fenced.pg(HOLDER, { at: at as number })).toThrow(
      'at must be a whole number from 1',
    );
  });
});

describe('fenceColumnDdl', () => {
  it('is a column of 64 bits that is never null', () => {
    expect(fenceColumnDdl('pg')).toBe('"fence" BIGINT NOT NULL DEFAULT 0');
    expect(fenceColumnDdl('mysql', { column: 'lock_fence' })).toBe(
      '`lock_fence` BIGINT NOT NULL DEFAULT 0',
    );
  });

  it('refuses other dialects and other names', () => {
    expect(() => fenceColumnDdl('oracle' as never)).toThrow("'pg' or 'mysql'");
    expect(() => fenceColumnDdl('pg', { column: '"; --' })).toThrow(TypeError);
  });
});

describe('assertWritten', () => {
  const fence = fenced.pg({ key: 'order:42', fencingToken: 42n });
  const unread = () => Promise.reject(new Error('was read for nothing'));
  const row = (value: unknown) => async () => ({ fence: value });

  it.each([
    ['Knex', 1],
    ['pg', { rowCount: 1, rows: [] }],
    ['mysql2', { affectedRows: 1 }],
    ['mysql2 with its fields', [{ affectedRows: 1 }, undefined]],
    ['TypeORM', { affected: 1, raw: [] }],
    ['Prisma', { count: 2 }],
  ])('understands the answer of %s', async (_, result) => {
    expect(await fence.assertWritten(result, unread)).toBe(true);
    await expect(fence.assertWritten(result, unread)).resolves.toBe(true);
  });

  it.each([{}, { rowCount: null }, { affected: undefined }, undefined, [], '1'])(
    'refuses %p, which does not tell',
    async (result) => {
      const asserted = fence.assertWritten(result as object, unread);
      await expect(asserted).rejects.toThrow(/^the answer of an update must be a number, or have/);
    },
  );

  it.each(['43', 43, 43n])('%p in the row: a newer holder was there', async (value) => {
    const asserted = fence.assertWritten(0, row(value));
    await expect(asserted).rejects.toThrow(LockStaleError);
    await expect(asserted).rejects.toMatchObject({ newest: 43n, fencingToken: 42n });
  });

  it.each(['42', 42, 41n, 0])('%p in the row: the fence was no obstacle', async (value) => {
    expect(await fence.assertWritten(0, row(value))).toBe(false);
  });

  it.each([undefined, null])('%p in place of a row: there is none', async (missing) => {
    const asserted = fence.assertWritten(0, async () => missing);
    await expect(asserted).rejects.toThrow(FencedRowMissingError);
    await expect(asserted).rejects.toMatchObject({
      code: 'FENCED_ROW_MISSING',
      key: 'order:42',
      message: 'There is no row to write under lock "order:42"',
    });
  });

  it.each([
    [null, 'the column has to be selected, and to be BIGINT NOT NULL'],
    [undefined, 'the column has to be selected'],
    ['', 'the column has to be selected'],
    [2 ** 53, 'a number cannot hold it exactly, so read it as text'],
  ])('%p in the row is an error that says what to do', async (value, hint) => {
    const asserted = fence.assertWritten(0, row(value));
    await expect(asserted).rejects.toThrow(TypeError);
    await expect(asserted).rejects.toThrow(hint);
  });

  it('rejects with the error of the reading, as it is', async () => {
    await expect(fence.assertWritten(0, unread)).rejects.toThrow('was read for nothing');
  });
});
