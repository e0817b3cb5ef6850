export { LockService } from './lock.service.js';
export type { LockServiceOptions } from './lock.service.js';
export { Lock } from './lock.js';
export { LockScope } from './lock-scope.js';
export type {
  LockDefaults,
  LockMode,
  LockOptions,
  PermitOptions,
  ResolvedLockOptions,
} from './lock-options.js';
export { lockKey } from './keys/lock-key.js';
export type { LockKeyValue } from './keys/lock-key.js';
export type { LockKeys } from './lock-keys.js';
export type {
  AcquireRequest,
  FencingRange,
  Lease,
  LockInspection,
  LockStore,
  LockStoreFeatures,
  NodeNotice,
  NodeReport,
  QuorumReport,
  StoreDoubt,
  StoreNotice,
} from './lock-store.js';
export type { ServerLink, ServerVitals } from './server-link.js';
export { LockQueueFullError } from './contract/queue-full-error.js';
export {
  LockDeadlockError,
  LockError,
  LockKeyError,
  LockLostError,
  LockPermitsError,
  LockStoreError,
  LockTimeoutError,
  LockUnsupportedError,
} from './lock-errors.js';
export type { LockErrorCode, LockLostReason } from './lock-errors.js';
export { LockEvents } from './lock-events.js';
export type {
  LockEvent,
  LockEventMap,
  LockEventName,
  LockJeopardyEvent,
  LockLostEvent,
  LockOverdueEvent,
  LockNodeEvent,
  LockUnscheduledEvent,
  LockReleaseFailedEvent,
  LockState,
} from './lock-events.js';
export type { Cancel, Clock } from './clock.js';
