import { UnknownAnswerError } from '../../../core/contract/unknown-answer.js';
import { SHARED, keyBytes } from '../common/lock-table.js';
import type { Claim, PermitAnswer, PermitTable } from '../common/lock-table.js';
import {
  MICROSECONDS,
  NOW,
  fencingFloor,
  holderBytes,
  isChanged,
  microseconds,
} from './mysql-connections.js';
import type { MysqlConnections } from './mysql-connections.js';

/** The answers of an attempt. A number between them is one more than the `permits` of the sharers of the row. */
const REFUSED = 0;
/** Several bytes of the packet away from all others: one damaged byte makes no grant of a refusal. */
const GRANTED = 0x5a5a_5a5a_5a5a;
const LARGEST_IN_USE = 2_147_483_647;

const IS_SHARED = `\`token\` = '${SHARED}'`;
const IS_FREE = `(\`token\` IS NULL OR ${IS_SHARED} OR \`expires_at\` <= ${NOW})`;
/** An exclusive holder that takes a row over from sharers leaves their list in it: such a list counts as empty. */
const SHARERS = rowsOf(`IF(${IS_SHARED}, \`sharers\`, NULL)`);
const IS_ALIVE = `s.\`until\` > ${MICROSECONDS}`;
const LIVE = `(SELECT COUNT(*) FROM ${SHARERS} WHERE ${IS_ALIVE})`;
/**
 * MariaDB cuts the list off at `group_concat_max_len`, perhaps right behind an entry: it is whole if it has the expected length.
 */
const LIST = 'COALESCE(JSON_ARRAYAGG(JSON_ARRAY(s.`its`, s.`who`, s.`until`)), JSON_ARRAY())';

/** Permits in MySQL 8 and MariaDB. Text goes as bytes in hexadecimal, and tokens are compared by them. */
export class MysqlPermits implements PermitTable {
  readonly #connections: MysqlConnections;
  readonly #table: string;

  constructor(connections: MysqlConnections, quoted: string) {
    this.#connections = connections;
    this.#table = quoted;
  }

  /**
   * The answer is the last LAST_INSERT_ID(n), as in `MysqlTable.acquire`. An assignment sees the row either as it was, or with
   * the assignments before it: that depends on `sql_mode` (SIMULTANEOUS_ASSIGNMENT). Each gives the same result in both cases.
   */
  async acquire(claim: Claim, asked: number): Promise<PermitAnswer> {
    const { key, token, holder, ttl } = claim;
    const permits = Math.round(asked); // a number, whatever type it came as: it is written into the statement unquoted
    const its = hex(Buffer.from(token));
    const until = `${MICROSECONDS} + ${microseconds(ttl)}`;
    const entry = `JSON_ARRAY(${asText(its)}, ${asText(hex(holderBytes(holder)))}, ${until})`;
    const others = othersThan(its);
    const takes = `(${isAmong(its)} OR IF(${LIVE} > 0, \`permits\` = ${permits} AND ${LIVE} < ${permits}, ${IS_FREE}))
    AND (SELECT JSON_LENGTH(${LIST}) = COUNT(*) ${others})`;
    const { insertId } = await this.#connections.change(
      `INSERT INTO ${this.#table} (\`key\`, \`token\`, \`fencing\`, \`expires_at\`, \`permits\`, \`sharers\`)
VALUES (${hex(keyBytes(key))}, '${SHARED}', ${fencingFloor(claim.fencingFloor)}, ${endsIn(ttl)},
  ${permits} + 0 * LAST_INSERT_ID(${GRANTED}), JSON_ARRAY(${entry}))
ON DUPLICATE KEY UPDATE
  \`sharers\` = IF(${takes}, (SELECT JSON_ARRAY_APPEND(${LIST}, '$', ${entry}) ${others}), \`sharers\`),
  \`fencing\` = \`fencing\` + 0 * LAST_INSERT_ID(CASE WHEN ${takes} THEN ${GRANTED} WHEN ${LIVE} > 0 THEN \`permits\` + 1 ELSE ${REFUSED} END),
  \`permits\` = IF(${takes}, ${permits}, \`permits\`),
  \`holder\` = IF(${takes}, NULL, \`holder\`),
  \`token\` = IF(${takes}, '${SHARED}', \`token\`),
  \`expires_at\` = IF(${takes}, GREATEST(${endsIn(ttl)}, COALESCE(${lastEnd(others)}, ${NOW})), \`expires_at\`)`,
      [],
    );
    return permitAnswer(Number(insertId));
  }

  extend(key: string, token: string, ttl: number): Promise<boolean> {
    const its = hex(Buffer.from(token));
    const until = `${MICROSECONDS} + ${microseconds(ttl)}`;
    return this.#changeOurs(
      key,
      its,
      `\`sharers\` = JSON_SET(\`sharers\`, CONCAT(${pathOf(its)}, '[2]'), ${until}),
  \`expires_at\` = GREATEST(${endsIn(ttl)}, COALESCE(${lastEnd(othersThan(its))}, ${NOW}))`,
    );
  }

  release(key: string, token: string): Promise<boolean> {
    const its = hex(Buffer.from(token));
    const others = othersThan(its);
    const stays = `EXISTS (SELECT 1 ${others})`;
    return this.#changeOurs(
      key,
      its,
      `\`sharers\` = JSON_REMOVE(\`sharers\`, ${pathOf(its)}), \`expires_at\` = COALESCE(${lastEnd(others)}, ${NOW}),
  \`permits\` = IF(${stays}, \`permits\`, NULL), \`token\` = IF(${stays}, \`token\`, NULL)`,
    );
  }

  async #changeOurs(key: string, its: string, assignments: string): Promise<boolean> {
    const changes = await this.#connections.change(
      `UPDATE ${this.#table} SET ${assignments} WHERE \`key\` = ${hex(keyBytes(key))} AND ${isAmong(its)}`,
      [],
    );
    return isChanged(changes);
  }
}

function permitAnswer(answer: number): PermitAnswer {
  if (answer === GRANTED) return { isGranted: true };
  if (answer === REFUSED) return { isGranted: false, inUse: undefined };
  if (answer > 1 && answer - 1 <= LARGEST_IN_USE) return { isGranted: false, inUse: answer - 1 };
  throw new UnknownAnswerError('0, a grant or the permits in use', answer);
}

/** For a list of [token, holder, deadline in µs]. */
function rowsOf(list: string): string {
  return `JSON_TABLE(${list}, '$[*]' COLUMNS (
    \`place\` FOR ORDINALITY,
    \`its\` VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]',
    \`who\` VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[1]',
    \`until\` BIGINT PATH '$[2]')) AS s`;
}

function isAmong(its: string): string {
  return `EXISTS (SELECT 1 FROM ${SHARERS} WHERE s.\`its\` = ${its} AND ${IS_ALIVE})`;
}

/** The other sharers whose deadline has not passed. */
function othersThan(its: string): string {
  return `FROM ${SHARERS} WHERE ${IS_ALIVE} AND s.\`its\` <> ${its}`;
}

function lastEnd(from: string): string {
  return `(SELECT '1970-01-01 00:00:00' + INTERVAL MAX(s.\`until\`) MICROSECOND ${from})`;
}

function endsIn(ttl: number): string {
  return `${NOW} + INTERVAL ${microseconds(ttl)} MICROSECOND`;
}

/** The position of a token in the list. */
function pathOf(its: string): string {
  return `(SELECT CONCAT('$[', MAX(s.\`place\`) - 1, ']') FROM ${SHARERS} WHERE s.\`its\` = ${its})`;
}

function asText(bytes: string): string {
  return `CONVERT(${bytes} USING utf8mb4)`;
}

function hex(bytes: Buffer | null): string {
  return bytes === null ? 'NULL' : `X'${bytes.toString('hex')}'`;
}
