export { lockMetrics } from './lock-metrics.js';
export type { LockMetricsOptions } from './lock-metrics.js';
