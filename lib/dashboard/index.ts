export type {
  DashboardVisitor,
  LockDashboardModuleOptions,
  LockDashboardOptions,
} from './entries/dashboard-options.js';
export { lockDashboard } from './entries/lock-dashboard.js';
export type { LockDashboardHandler } from './entries/lock-dashboard.js';
export { LockDashboardModule } from './entries/lock-dashboard.module.js';
export type { LockDashboardDynamicModule } from './entries/lock-dashboard.module.js';
export type { LockAction } from './api.js';
