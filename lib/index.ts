export * from './core.js';
export { CurrentLock, LockKey } from './nest/parameter-marks.js';
export { DistributedLock } from './nest/distributed-lock.decorator.js';
export type {
  DistributedLockDecorator,
  DistributedLockOptions,
} from './nest/distributed-lock.decorator.js';
export { DistributedLockInterceptor } from './nest/distributed-lock.interceptor.js';
export { DistributedLockModule } from './nest/distributed-lock.module.js';
export { CurrentFence, FencingGuard } from './nest/fencing-guard.js';
export { InjectLocks } from './nest/inject-locks.decorator.js';
export type { LockHttpOptions } from './nest/lock-exceptions.js';
export type { OnTimeout, ReturnKind } from './nest/lock-plan.js';
export { getLockClientToken, getLocksToken } from './nest/lock-tokens.js';
export type {
  DistributedLockModuleExtras,
  DistributedLockModuleOptions,
  DistributedLockOptionsFactory,
} from './nest/module-options.js';
export type { RedisClusterSource, RedisSource } from './nest/redis-connection.js';
