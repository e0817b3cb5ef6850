import { LockService } from '../../core/lock.service.js';
import { NestDashboard, NEST_DASHBOARD } from './nest-dashboard.js';
import { checkModule } from './dashboard-options.js';
import type { LockDashboardModuleOptions } from './dashboard-options.js';

/** A `DynamicModule` of Nest, of any version. */
export interface LockDashboardDynamicModule {
  module: new (...args: any[]) => any;
  imports: any[];
  controllers: (new (...args: any[]) => any)[];
  providers: any[];
}

/**
 * The live page of locks, as a controller behind guards.
 *
 * ```ts
 * @Module({ imports: [LockDashboardModule.forRoot({ path: 'locks', guards: [AdminGuard] })] })
 * ```
 */
export class LockDashboardModule {
  /**
   * To be imported once for each page: every call makes a controller of its own. Loads `@nestjs/common`. Throws `TypeError` for
   * unusable options.
   */
  static forRoot<Request = any>(
    options: LockDashboardModuleOptions<Request>,
  ): Promise<LockDashboardDynamicModule> {
    checkModule(options);
    return moduleOf(options);
  }
}

/** Nest is loaded here, so that the other entry works without it. */
async function moduleOf(options: LockDashboardModuleOptions): Promise<LockDashboardDynamicModule> {
  const {
    path = 'locks',
    guards,
    actor,
    actions = [],
    locks = LockService,
    imports = [],
  } = options;
  const { dashboardController } = await import('./dashboard-controller.js');
  const open = (service: LockService) => new NestDashboard(service, [...actions], actor);
  return {
    module: class extends LockDashboardModule {},
    imports: [...imports],
    controllers: [dashboardController(NEST_DASHBOARD, path, guards === 'public' ? [] : guards)],
    providers: [{ provide: NEST_DASHBOARD, inject: [locks], useFactory: open }],
  };
}
