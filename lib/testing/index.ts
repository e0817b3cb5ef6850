export { FakeClock } from './fake-clock.js';
export { lockStoreConformance } from './lock-store-conformance.js';
export type { ConformanceOptions } from './lock-store-conformance.js';
