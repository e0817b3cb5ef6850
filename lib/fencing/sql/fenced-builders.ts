import { columnOf } from './fence-column.js';
import type { FenceColumnOptions } from './fence-column.js';
import { checkHolder } from '../holder/fenced-holder.js';
import type { FencedHolder } from '../holder/fenced-holder.js';
import { FencedWrite } from './fenced-write.js';

/** One update of a query builder: `set` is spread into what it writes, `where` is its condition. */
export class FencedUpdate<Set, Where> extends FencedWrite {
  readonly set: Set;
  readonly where: Where;

  constructor(holder: FencedHolder, column: string, parts: { set: Set; where: Where }) {
    super(holder, column);
    this.set = parts.set;
    this.where = parts.where;
  }
}

/** Arguments of Knex' `whereRaw`. */
export type KnexCondition = readonly [sql: string, bindings: string[]];
/** Arguments of `andWhere` of a query builder of TypeORM. */
export type TypeOrmCondition = readonly [where: string, parameters: { fencingToken: string }];

/** Exact on every database: compared with text, MySQL would go by floating point. */
const TOKEN = (placeholder: string) => `CAST(${placeholder} AS DECIMAL(20))`;

/**
 * For Knex, on any database:
 *
 * ```ts
 * const fence = fenced.knex(lock);
 * await knex('account').where({ id }).whereRaw(...fence.where).update({ balance: 10, ...fence.set });
 * ```
 */
export function fencedKnex<const Column extends string = 'fence'>(
  holder: FencedHolder,
  options: FenceColumnOptions<Column> = {},
): FencedUpdate<Record<Column, string>, KnexCondition> {
  const { column, checked, token } = read('fenced.knex', holder, options);
  return new FencedUpdate(checked, column, {
    set: { [column]: token } as Record<Column, string>,
    where: [`?? <= ${TOKEN('?')}`, [column, token]],
  });
}

/**
 * For an `UpdateQueryBuilder` of TypeORM; `column` is the property of the entity, and `fencingToken` the parameter's name:
 *
 * ```ts
 * const fence = fenced.typeorm(lock);
 * const update = accounts.createQueryBuilder().update().set({ balance: 10, ...fence.set });
 * await update.where({ id }).andWhere(...fence.where).execute();
 * ```
 */
export function fencedTypeOrm<const Column extends string = 'fence'>(
  holder: FencedHolder,
  options: FenceColumnOptions<Column> = {},
): FencedUpdate<Record<Column, string>, TypeOrmCondition> {
  const { column, checked, token } = read('fenced.typeorm', holder, options);
  return new FencedUpdate(checked, column, {
    set: { [column]: token } as Record<Column, string>,
    where: [`${column} <= ${TOKEN(':fencingToken')}`, { fencingToken: token }],
  });
}

/**
 * For `updateMany` of Prisma; `column` is the field of the model, a `BigInt`:
 *
 * ```ts
 * const fence = fenced.prisma(lock);
 * await prisma.account.updateMany({ where: { id, ...fence.where }, data: { balance: 10, ...fence.set } });
 * ```
 */
export function fencedPrisma<const Column extends string = 'fence'>(
  holder: FencedHolder,
  options: FenceColumnOptions<Column> = {},
): FencedUpdate<Record<Column, bigint>, Record<Column, { lte: bigint }>> {
  const { column, checked } = read('fenced.prisma', holder, options);
  const { fencingToken } = checked;
  return new FencedUpdate(checked, column, {
    set: { [column]: fencingToken } as Record<Column, bigint>,
    where: { [column]: { lte: fencingToken } } as Record<Column, { lte: bigint }>,
  });
}

function read<Column extends string>(
  owner: string,
  holder: FencedHolder,
  options: FenceColumnOptions<Column>,
) {
  const checked = checkHolder(holder);
  return { column: columnOf(owner, options), checked, token: String(checked.fencingToken) };
}
