/** Guards by which a resource refuses the writes of stale holders: `nest-holdfast/fencing`. */
export { fenceColumnDdl } from './sql/fence-column.js';
export type { FenceColumnOptions, SqlDialect } from './sql/fence-column.js';
export { fenced } from './sql/fenced.js';
export type { FencedUpdate, KnexCondition, TypeOrmCondition } from './sql/fenced-builders.js';
export type { FencedHolder } from './holder/fenced-holder.js';
export { fencedRequest } from './http/fenced-request.js';
export type {
  FencedExpressRequest,
  FencedExpressResponse,
  FencedRequestOptions,
} from './http/fenced-request.js';
export type { FencedPgOptions, FencedSql } from './sql/fenced-sql.js';
export type { FencedWrite, ReadFence, WriteResult } from './sql/fenced-write.js';
export {
  FencedRowMissingError,
  FencingTimeoutError,
  FencingTokenError,
  LockStaleError,
} from './holder/fencing-errors.js';
export { FencingGate } from './gate/fencing-gate.js';
export type { FencingGateOptions, FencingRunOptions, TokenGate } from './gate/fencing-gate.js';
export { FENCING_HEADER, fencingHeaders } from './http/fencing-header.js';
export { RedisFencingGate } from './gate/redis-fencing-gate.js';
export type { RedisFencingGateOptions, RedisGateClient } from './gate/redis-fencing-gate.js';
export type { FenceKey, RequestFenceOptions } from './http/request-fence.js';
