import { systemClock } from '../../core/async/clock.js';
import { waitAtMost } from '../../core/async/sleep.js';
import { reasonOf } from '../../core/contract/safe-error.js';
import type { LockStore } from '../../core/contract/lock-store.js';
import { aWhole, checkOptions, needed } from '../../core/options/option-rules.js';
import type { OptionRules } from '../../core/options/option-rules.js';
import { aStore } from '../plan/migrate-options.js';
import { MigrationError } from '../plan/migration-error.js';
import { SameKeys } from '../plan/same-keys.js';
import { lostFeatures } from './lost-features.js';

/** The move to check. */
export interface CheckMigrationOptions {
  readonly from: LockStore;
  readonly to: LockStore;
  /** The largest ttl in milliseconds that any process of the old configuration uses. */
  readonly largestTtl: number;
  /**
   * Milliseconds for the stores to answer.
   * @default 5_000
   */
  readonly timeout?: number | undefined;
}

/**
 * - `UNREACHABLE`: a store did not grant a key to be tried
 * - `SAME_KEYS`: both stores keep their locks in one place
 * - `CLOCK_SKEW`: the clocks of the servers differ. From `largestTtl` on, tokens could go back
 * - `FENCING_BASE`: the move needs `fencingBase` and the phase `handover`, or cannot be made
 * - `FEATURE_LOST`: locks of a kind are refused while a lock is held in both stores, and perhaps later
 */
export type MigrationFindingCode =
  'UNREACHABLE' | 'SAME_KEYS' | 'CLOCK_SKEW' | 'FENCING_BASE' | 'FEATURE_LOST';

export interface MigrationFinding {
  readonly code: MigrationFindingCode;
  /** `error`: do not begin. */
  readonly severity: 'error' | 'warning';
  readonly message: string;
}

export interface MigrationCheck {
  /** No finding is an error. */
  readonly ok: boolean;
  readonly findings: readonly MigrationFinding[];
  /** Milliseconds by which the clock of `to` is ahead of that of `from`. Missing where a server does not tell its time. */
  readonly skew?: number | undefined;
}

/** Milliseconds between two clocks that are worth a warning. */
const NOTED_SKEW = 1_000;

const RULES: OptionRules<CheckMigrationOptions> = {
  from: needed(aStore),
  to: needed(aStore),
  largestTtl: needed(aWhole('ms', { from: 1 })),
  timeout: aWhole('ms', { from: 1 }),
};

/** Whether locks can move from one store to the other. Takes a lock with a random key in both, and releases it. */
export async function checkMigration(options: CheckMigrationOptions): Promise<MigrationCheck> {
  checkOptions('checkMigration', options, RULES, '{ from, to, largestTtl: 30_000 }');
  const { from, to, largestTtl, timeout = 5_000 } = options;
  const [reach, skew] = await Promise.all([
    reachOf(from, to, timeout),
    bounded(skewOf(from, to), timeout),
  ]);
  const findings = [...reach, ...skewFindings(skew, largestTtl), ...fencing(from, to)];
  for (const feature of lostFeatures(from, to))
    findings.push(finding('FEATURE_LOST', 'warning', `"${to.name}" has no ${feature}`));
  return { ok: findings.every(({ severity }) => severity !== 'error'), findings, skew };
}

async function reachOf(
  from: LockStore,
  to: LockStore,
  timeout: number,
): Promise<MigrationFinding[]> {
  const checked = new SameKeys(from, to).check().then(
    () => [],
    (error: unknown) => {
      const code = error instanceof MigrationError ? 'SAME_KEYS' : 'UNREACHABLE';
      return [finding(code, 'error', reasonOf(error))];
    },
  );
  const answer = await bounded(checked, timeout);
  return answer ?? [finding('UNREACHABLE', 'error', `a store gave no answer within ${timeout} ms`)];
}

async function skewOf(from: LockStore, to: LockStore): Promise<number | undefined> {
  if (!from.server || !to.server) return undefined;
  const [one, other] = await Promise.all([offsetOf(from), offsetOf(to)]);
  return Math.round(other - one);
}

/** Of the server's clock from ours. */
async function offsetOf({ server }: LockStore): Promise<number> {
  const sentAt = systemClock.now();
  const { time } = await server!.vitals();
  return time - (sentAt + systemClock.now()) / 2;
}

function skewFindings(skew: number | undefined, largestTtl: number): MigrationFinding[] {
  const apart = Math.abs(skew ?? 0);
  if (apart < NOTED_SKEW) return [];
  const severity = apart >= largestTtl ? 'error' : 'warning';
  return [finding('CLOCK_SKEW', severity, `the clocks of the servers differ by ${apart} ms`)];
}

function fencing(from: LockStore, to: LockStore): MigrationFinding[] {
  const counting = [from, to].filter(({ supports }) => supports.fencing);
  const revisions = counting.filter(({ supports }) => supports.fencingFloor === false);
  if (counting.length < 2 || revisions.length === 0) return [];
  const names = revisions.map(({ name }) => `"${name}"`).join(' and ');
  const isBoth = revisions.length > 1;
  const advice = isBoth
    ? 'stop all processes, wait for largestTtl, and start them with the other store'
    : "give fencingBase, and pass through the phase 'handover'";
  return [finding('FENCING_BASE', isBoth ? 'error' : 'warning', `the fencing tokens of ${names} are revisions: ${advice}`)]; // prettier-ignore
}

function finding(
  code: MigrationFindingCode,
  severity: MigrationFinding['severity'],
  message: string,
): MigrationFinding {
  return { code, severity, message };
}

/** `undefined`: it took too long, or failed. */
async function bounded<T>(answer: Promise<T>, timeout: number): Promise<T | undefined> {
  const settled = answer.catch(() => undefined);
  return (await waitAtMost(systemClock, timeout, settled)) ? settled : undefined;
}
