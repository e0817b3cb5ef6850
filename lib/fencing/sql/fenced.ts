import { fencedKnex, fencedPrisma, fencedTypeOrm } from './fenced-builders.js';
import { fencedMySql, fencedPg } from './fenced-sql.js';

/**
 * Conditions that let an update through only while no newer holder of the lock has written the row, one for each library.
 * Each takes a lock, or `{ key, fencingToken }`, and throws `TypeError` or `RangeError` for what is neither.
 */
export const fenced = Object.freeze({
  pg: fencedPg,
  mysql: fencedMySql,
  knex: fencedKnex,
  typeorm: fencedTypeOrm,
  prisma: fencedPrisma,
});
