export { SqlLockStore } from './sql-lock.store.js';
export type { SqlLockStoreOptions } from './sql-lock-options.js';
export { lockTableDdl } from './common/lock-table-ddl.js';
export type { TableName } from './common/sql-identifiers.js';
export { advisoryKey, lockInTransaction, tryLockInTransaction } from './postgres/advisory-lock.js';
export type { PostgresTransaction } from './postgres/advisory-lock.js';
export type {
  MysqlCallbackClient,
  MysqlClient,
  MysqlPromiseClient,
  PostgresClient,
  PostgresListenerClient,
  SqlClient,
  SqlDialect,
  SqliteClient,
} from './common/sql-clients.js';
