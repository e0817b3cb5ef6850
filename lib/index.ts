export * from './without-nest.js';
export { CurrentLock, LockKey } from './nest/keys/parameter-marks.js';
export { DistributedLock } from './nest/decorators/distributed-lock.decorator.js';
export type {
  DistributedLockDecorator,
  DistributedLockOptions,
} from './nest/decorators/lock-decorator.js';
export { DistributedLockInterceptor } from './nest/calls/distributed-lock.interceptor.js';
export { DistributedLockModule } from './nest/module/distributed-lock.module.js';
export { CurrentFence, FencingGuard } from './nest/calls/fencing-guard.js';
export { InjectLocks } from './nest/decorators/inject-locks.decorator.js';
export { getLeadersToken, LeaderService } from './nest/module/leader.service.js';
export type { LockErrorOptions } from './http/error-options.js';
export { OnElected } from './nest/decorators/on-elected.decorator.js';
export type {
  OnElectedDecorator,
  OnElectedOptions,
} from './nest/decorators/on-elected.decorator.js';
export { OncePerTick } from './nest/decorators/once-per-tick.decorator.js';
export type {
  OncePerTickDecorator,
  OncePerTickOptions,
} from './nest/decorators/once-per-tick.decorator.js';
export type { OnTimeout, ReturnKind } from './nest/plan/lock-plan.js';
export { Semaphore } from './nest/decorators/semaphore.decorator.js';
export type { SemaphoreOptions } from './nest/decorators/semaphore.decorator.js';
export { getLockClientToken, getLocksToken } from './nest/plan/lock-tokens.js';
export type {
  DistributedLockModuleExtras,
  DistributedLockModuleOptions,
  DistributedLockOptionsFactory,
} from './nest/module/module-options.js';
export type {
  MigrationSideOptions,
  ModuleMigrationOptions,
} from './nest/module/migrate/migrate-options.js';
export type { RedisClusterSource, RedisSource } from './nest/module/redis/redis-connection.js';
