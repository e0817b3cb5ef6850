export type {
  DashboardVisitor,
  LockDashboardModuleOptions,
  LockDashboardOptions,
} from './doors/dashboard-options.js';
export { lockDashboard } from './doors/lock-dashboard.js';
export type { LockDashboardHandler } from './doors/lock-dashboard.js';
export { LockDashboardModule } from './doors/lock-dashboard.module.js';
export type { LockDashboardDynamicModule } from './doors/lock-dashboard.module.js';
export type { LockAction } from './api.js';
