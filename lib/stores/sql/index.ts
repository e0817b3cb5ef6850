export { SqlLockStore } from './sql-lock.store.js';
export type { SqlLockStoreOptions } from './sql-lock-options.js';
export { lockTableDdl } from './lock-table-ddl.js';
export type { TableName } from './sql-identifiers.js';
export { advisoryKey, lockInTransaction, tryLockInTransaction } from './advisory-lock.js';
export type { PostgresTransaction } from './advisory-lock.js';
export type {
  MysqlCallbackClient,
  MysqlClient,
  MysqlPromiseClient,
  PostgresClient,
  PostgresListenerClient,
  SqlClient,
  SqlDialect,
  SqliteClient,
} from './sql-clients.js';
