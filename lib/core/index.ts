export { LockService } from './lock.service.js';
export type { LockServiceOptions } from './lock.service.js';
export { Lock } from './scope/lock.js';
export { LockScope } from './scope/lock-scope.js';
export type {
  LockDefaults,
  LockMode,
  LockOptions,
  PermitOptions,
  ResolvedLockOptions,
} from './options/lock-options.js';
export { lockKey } from './keys/lock-key.js';
export type { LockKeyValue } from './keys/lock-key.js';
export type { LockKeys } from './keys/lock-keys.js';
export type {
  AcquireRequest,
  FencingRange,
  Lease,
  LockInspection,
  LockListQuery,
  LockPage,
  LockStore,
  LockStoreFeatures,
  NodeNotice,
  NodeReport,
  QuorumReport,
  StoreDoubt,
  StoreNotice,
  StoreWarning,
} from './contract/lock-store.js';
export type { ServerLink, ServerVitals } from './contract/server-link.js';
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
} from './contract/lock-errors.js';
export type { LockErrorCode, LockLostReason } from './contract/lock-errors.js';
export { LockEvents } from './contract/lock-events.js';
export type {
  LockEvent,
  LockEventMap,
  LockEventName,
  LockJeopardyEvent,
  LockLostEvent,
  LockOverdueEvent,
  LockNodeEvent,
  LockUnscheduledEvent,
  LockWarningEvent,
  LockReleaseFailedEvent,
  LockState,
} from './contract/lock-events.js';
export type { Cancel, Clock } from './async/clock.js';
