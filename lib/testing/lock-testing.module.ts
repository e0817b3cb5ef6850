import { LockControl } from './lock-control.js';

/** Injection token under which the instances of `DistributedLockModule` look for other stores than their options ask for. */
const STAND_INS = Symbol.for('nest-holdfast:stand-ins');

/** Nest's `DynamicModule`. Written down here, so that this file works without Nest. */
export interface LockTestingDynamicModule {
  module: new () => object;
  global: boolean;
  providers: { provide: symbol | typeof LockControl; useValue: LockControl }[];
  exports: (symbol | typeof LockControl)[];
}

/**
 * Puts all locks of a Nest application into the hands of a test. Import it beside the application's own modules:
 *
 * ```ts
 * const control = new LockControl();
 * Test.createTestingModule({ imports: [AppModule, LockTestingModule.forRoot(control)] });
 * ```
 *
 * Every `DistributedLockModule`, named ones included, then locks in memory and connects to nothing. Its other options, and
 * `@DistributedLock` with all it does, stay as they are. Providers may inject the `LockControl`.
 */
export class LockTestingModule {
  constructor() {
    throw new TypeError('Import LockTestingModule.forRoot(control), not LockTestingModule itself');
  }

  /** Without an argument, get the control from the application: `testing.get(LockControl)`. */
  static forRoot(control: LockControl = new LockControl()): LockTestingDynamicModule {
    return {
      module: LocksInMemory,
      global: true,
      providers: [
        { provide: STAND_INS, useValue: control },
        { provide: LockControl, useValue: control },
      ],
      exports: [STAND_INS, LockControl],
    };
  }
}

class LocksInMemory {}
