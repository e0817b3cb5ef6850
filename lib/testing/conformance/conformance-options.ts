import { a, aFunction, needed } from '../../core/options/option-rules.js';
import type { OptionRules } from '../../core/options/option-rules.js';
import type { LockStore } from '../../core/contract/lock-store.js';
import { FEATURES, isFeature } from './needs.js';
import type { ConformanceFeature } from './needs.js';

export interface ConformanceOptions {
  /**
   * Registers one test: `it` of Jest, Vitest or Mocha, `test` of `node:test`. Its `skip`, where it has one, registers a check
   * that is known to be skipped.
   */
  readonly test: (name: string, run: () => Promise<void>) => unknown;
  /** Opens a NEW store on the SAME backend. Two stores stand for two processes. */
  readonly createStore: () => LockStore | Promise<LockStore>;
  /** Lets `ms` milliseconds pass for the store. Default: waits. A store on a fake clock advances it. */
  readonly expire?: (ms: number) => Promise<void>;
  /**
   * The features that the store lacks: its checks are registered as skipped, with the reason, and one check more fails when the
   * store has it. A check that finds out by itself is skipped while it runs; Jest cannot do that, and shows it as passed
   * beside a line on the console.
   * @default []
   */
  readonly lacks?: readonly ConformanceFeature[];
  /** Ends the session of a store as its server would. Missing: the check of `Lease.lost` is skipped. */
  readonly endSession?: (store: LockStore) => void | Promise<void>;
  /**
   * Makes a store doubt what it holds: breaks its connections for a moment, say. Missing: the check of `LockStore.observe` is
   * skipped.
   */
  readonly disconnect?: (store: LockStore) => void | Promise<void>;
}

const someFeatures = `an array of ${Object.keys(FEATURES).join(', ')}`;

export const CONFORMANCE_RULES: OptionRules<ConformanceOptions> = {
  test: needed(aFunction),
  createStore: needed(aFunction),
  expire: aFunction,
  lacks: a(someFeatures, (value) => Array.isArray(value) && value.every(isFeature)),
  endSession: aFunction,
  disconnect: aFunction,
};
