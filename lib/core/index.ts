export { LockService } from './lock.service.js';
export type { LockAttempt } from './scope/lock-work.js';
export type { LockServiceOptions } from './lock.service.js';
export type { LockHealth, LockHealthOptions } from './health/health.js';
export type { LockDrainOptions } from './drain/drain-options.js';
export { LockDrainingError } from './drain/draining-error.js';
export type { LockEviction } from './evict/evict-holder.js';
export type { LockEvictOptions } from './evict/evict-options.js';
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
  EvictRequest,
  FencingRange,
  HandedOffLease,
  HolderAnswer,
  Lease,
  LockInspection,
  LockListQuery,
  LockNode,
  LockPage,
  LockStore,
  LockStoreFeatures,
  NamedHolder,
  NodeCount,
  NodeNotice,
  NodeReport,
  QuorumReport,
  StoreDoubt,
  StoreNotice,
  StoreRevocation,
  StoreWarning,
  TakenKey,
} from './contract/lock-store.js';
export type { ServerLink, ServerVitals } from './contract/server-link.js';
export { LockQueueFullError } from './queue/queue-full-error.js';
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
export { LockEvents } from './events/lock-events.js';
export type {
  LockEventMap,
  LockEventName,
  LockNodeEvent,
  LockUnscheduledEvent,
  LockWarningEvent,
} from './events/lock-events.js';
export type {
  LockAttemptEvent,
  LockAuditEvent,
  LockFailedEvent,
  LockRefusedEvent,
  LockTimeoutEvent,
} from './events/attempt-events.js';
export type {
  LockEvent,
  LockHoldEvent,
  LockJeopardyEvent,
  LockLostEvent,
  LockOverdueEvent,
  LockReleaseFailedEvent,
  LockState,
} from './events/hold-events.js';
export type { LockHoldSpan, LockSpan, LockTracer } from './events/lock-tracer.js';
export type { AroundWork, LockAcquireTrace, LockHoldTrace } from './events/tracing.js';
export type { HeldLock } from './inspection/held-locks.js';
export type { WaitingCall } from './inspection/waiting-calls.js';
export type { LockListOptions } from './inspection/list-locks.js';
export type { LockHoldMode } from './sharing/hold-mode.js';
export type { Cancel, Clock } from './async/clock.js';
