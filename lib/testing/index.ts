export { MemoryLockStore } from '../stores/memory/memory-lock.store.js';
export { FakeClock } from './fake-clock.js';
export { LockControl } from './lock-control.js';
export type { Commanded, LockControlOptions } from './lock-control.js';
export { LockTestingModule } from './lock-testing.module.js';
export type { LockTestingDynamicModule } from './lock-testing.module.js';
export { useLocks } from './use-locks.js';
export { lockStoreConformance } from './lock-store-conformance.js';
export type { ConformanceFeature, ConformanceOptions } from './lock-store-conformance.js';
