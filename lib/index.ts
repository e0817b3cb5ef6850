export * from './core.js';
export { CurrentLock, LockKey } from './nest/parameter-marks.js';
export { DistributedLock } from './nest/distributed-lock.decorator.js';
export type { DistributedLockDecorator, DistributedLockOptions } from './nest/lock-decorator.js';
export { DistributedLockInterceptor } from './nest/distributed-lock.interceptor.js';
export { DistributedLockModule } from './nest/distributed-lock.module.js';
export { CurrentFence, FencingGuard } from './nest/fencing-guard.js';
export { InjectLocks } from './nest/inject-locks.decorator.js';
export { getLeadersToken, LeaderService } from './nest/leader.service.js';
export type { LockHttpOptions } from './nest/lock-exceptions.js';
export { OnElected } from './nest/on-elected.decorator.js';
export type { OnElectedDecorator, OnElectedOptions } from './nest/on-elected.decorator.js';
export { OncePerTick } from './nest/once-per-tick.decorator.js';
export type { OncePerTickDecorator, OncePerTickOptions } from './nest/once-per-tick.decorator.js';
export type { OnTimeout, ReturnKind } from './nest/lock-plan.js';
export { Semaphore } from './nest/semaphore.decorator.js';
export type { SemaphoreOptions } from './nest/semaphore.decorator.js';
export { getLockClientToken, getLocksToken } from './nest/lock-tokens.js';
export type {
  DistributedLockModuleExtras,
  DistributedLockModuleOptions,
  DistributedLockOptionsFactory,
} from './nest/module-options.js';
export type { RedisClusterSource, RedisSource } from './nest/redis-connection.js';
