/** What a resource needs to refuse the writes of stale holders: `nest-holdfast/fencing`. */
export { fenceColumnDdl } from './fence-column.js';
export type { FenceColumnOptions, SqlDialect } from './fence-column.js';
export { fenced } from './fenced.js';
export type { FencedUpdate, KnexCondition, TypeOrmCondition } from './fenced-builders.js';
export type { FencedHolder } from './fenced-holder.js';
export { fencedRequest } from './fenced-request.js';
export type {
  FencedExpressRequest,
  FencedExpressResponse,
  FencedRequestOptions,
} from './fenced-request.js';
export type { FencedPgOptions, FencedSql } from './fenced-sql.js';
export type { FencedWrite, ReadFence, WriteResult } from './fenced-write.js';
export {
  FencedRowMissingError,
  FencingTimeoutError,
  FencingTokenError,
  LockStaleError,
} from './fencing-errors.js';
export { FencingGate } from './fencing-gate.js';
export type { FencingGateOptions, FencingRunOptions, TokenGate } from './fencing-gate.js';
export { FENCING_HEADER, fencingHeaders } from './fencing-header.js';
export { RedisFencingGate } from './redis-fencing-gate.js';
export type { RedisFencingGateOptions, RedisGateClient } from './redis-fencing-gate.js';
export type { FenceKey, RequestFenceOptions } from './request-fence.js';
