export { LockHealthIndicator } from './lock-health-indicator.js';
export type { LockHealthIndicatorOptions } from './lock-health-indicator.js';
