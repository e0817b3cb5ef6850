import { reasonOf } from '../../../core/contract/safe-error.js';

/**
 * - `conflict`: another transaction came between; the statement was not applied and may be sent again
 * - `connection`: the connection was lost, or could not be made; it is unknown whether the statement was applied
 * - `read-only`: this server takes no writes
 * - `no-table`: the table of the locks is missing
 * - `other`: everything else
 */
export type FailureKind = 'conflict' | 'connection' | 'read-only' | 'no-table' | 'other';

/** Codes of PostgreSQL (SQLSTATE), of MySQL (numbers), of SQLite and of Node. No two systems use the same one. */
const KINDS: Record<Exclude<FailureKind, 'other'>, RegExp> = {
  // serialization_failure, deadlock_detected, lock_not_available; ER_LOCK_WAIT_TIMEOUT, ER_LOCK_DEADLOCK, ER_CHECKREAD
  conflict: /^(40001|40P01|55P03|1205|1213|1020|SQLITE_(BUSY|LOCKED)(_\w+)?)$/,
  // admin_shutdown, crash_shutdown, cannot_connect_now, idle_session_timeout, too_many_connections;
  // ER_SERVER_SHUTDOWN, CR_SERVER_GONE_ERROR, CR_SERVER_LOST, ER_CONNECTION_KILLED, ER_CLIENT_INTERACTION_TIMEOUT,
  // ER_CON_COUNT_ERROR, ER_TOO_MANY_USER_CONNECTIONS
  connection:
    /^(08\w{3}|57P0[1235]|53300|1053|2006|2013|1927|4031|1040|1203|PROTOCOL_CONNECTION_LOST|E(PIPE|TIMEDOUT|HOSTUNREACH|CONN(RESET|REFUSED|ABORTED)))$/,
  // read_only_sql_transaction; ER_OPTION_PREVENTS_STATEMENT, ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION, ER_READ_ONLY_MODE
  'read-only': /^(25006|1290|1792|1836|SQLITE_READONLY(_\w+)?)$/,
  // undefined_table, invalid_schema_name; ER_NO_SUCH_TABLE
  'no-table': /^(42P01|3F000|1146)$/,
};

/** Drivers have no code for these. */
const CLOSED_CONNECTION =
  /^(Connection terminated|Query read timeout|Client has encountered a connection error|Connection lost|Can't add new command when connection is in closed state)/;
const NO_SQLITE_TABLE = /^no such table: /;

/** The primary result codes of SQLite, which node:sqlite has in `errcode`. */
const SQLITE_CODES: Readonly<Record<number, string>> = {
  5: 'SQLITE_BUSY',
  6: 'SQLITE_LOCKED',
  8: 'SQLITE_READONLY',
};

interface DriverError {
  readonly code?: unknown;
  readonly errno?: unknown;
  readonly errcode?: unknown;
  readonly message?: unknown;
}

export function failureKind(error: unknown): FailureKind {
  const { code, errno, errcode, message } = (error ?? {}) as DriverError;
  const sqlite = typeof errcode === 'number' ? SQLITE_CODES[errcode & 0xff] : undefined;
  const codes = [code, errno, sqlite].map(String);
  for (const [kind, pattern] of Object.entries(KINDS)) {
    if (codes.some((each) => pattern.test(each))) return kind as FailureKind;
  }
  if (CLOSED_CONNECTION.test(String(message))) return 'connection';
  return NO_SQLITE_TABLE.test(String(message)) ? 'no-table' : 'other';
}

const EXPLANATIONS: Partial<Record<FailureKind, readonly [code: string, text: string]>> = {
  'read-only': ['READONLY', 'the server takes no writes: is it a replica?'],
  'no-table': [
    'NO_TABLE',
    'the table of the locks is missing: call `createTable()`, or run a migration',
  ],
};

/**
 * The error that core reports. Its cause is the driver's error. It adds a sentence where the driver's own says too little, and a
 * code, by which `health` names it.
 */
export function explained(error: unknown): unknown {
  const explanation = EXPLANATIONS[failureKind(error)];
  if (!explanation) return error;
  const [code, text] = explanation;
  return Object.assign(new Error(`${text} (${reasonOf(error)})`, { cause: error }), { code });
}
