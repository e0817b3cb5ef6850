import type { FaultKind } from './soak-faults.js';

/** The measurements of one store at the end of a round, when no caller held or waited. */
export interface SoakSample {
  /** Since the start. */
  readonly minutes: number;
  /** Bytes in use after forced collections, of the process that stays. */
  readonly heap: number;
  readonly timers: number;
  readonly resources: number;
  /** Accepted by the servers; missing where the system does not tell. */
  readonly connections?: number | undefined;
  /** Keys, rows or nodes that are stored, whatever they are for. */
  readonly stored: number;
}

export interface StoreReport {
  readonly store: string;
  rounds: number;
  grants: number;
  losses: number;
  /** Calls that got no lock, by the code of the error. */
  refusals: Record<string, number>;
  faults: Partial<Record<FaultKind, number>>;
  samples: SoakSample[];
  /** Two holders at once, tokens that do not grow, waits out of order, processes that ended, errors without a code. */
  violations: string[];
  /** The records in the store after all locks were released and every ttl was over. */
  leftovers: string[];
  leaks: string[];
  /** Growth of the heap in KB a minute, by the line that fits the samples after the warm-up best. */
  heapSlope?: number;
}

/** Samples that are left out: caches fill, and functions are compiled, which takes a process some twenty minutes at this pace. */
const WARM_UP = 0.5;
/** Fewer say nothing about growth. */
const FEWEST_SAMPLES = 12;
/** Growth that counts as a leak. Of the heap in KB a minute: 40 KB are 2.4 MB an hour, at some 30,000 locks. */
const MOST_HEAP = 40;
/** Of timers, handles, connections and stored keys, in a minute. */
const MOST_COUNT = 0.2;
const COUNTS = ['timers', 'resources', 'connections', 'stored'] as const;

/** Judges the samples: sets `heapSlope` and `leaks`. */
export function judge(report: StoreReport): void {
  const samples = report.samples.slice(Math.floor(report.samples.length * WARM_UP));
  report.leaks = [];
  if (samples.length < FEWEST_SAMPLES) return;
  report.heapSlope = slope(samples, ({ heap }) => heap / 1_024);
  if (report.heapSlope > MOST_HEAP)
    report.leaks.push(`the heap grows by ${report.heapSlope.toFixed(1)} KB a minute`);
  for (const kind of COUNTS) {
    const growth = slope(samples, (sample) => sample[kind] ?? 0);
    if (growth > MOST_COUNT) report.leaks.push(`${kind} grow by ${growth.toFixed(2)} a minute`);
  }
}

export function isSound({ violations, leftovers, leaks }: StoreReport): boolean {
  return violations.length + leftovers.length + leaks.length === 0;
}

/** Theil and Sen's: the median of the slopes between all pairs, which a few outliers do not move. */
export function slope(
  samples: readonly SoakSample[],
  valueOf: (sample: SoakSample) => number,
): number {
  const slopes = samples.flatMap((one, index) =>
    samples
      .slice(index + 1)
      .filter(({ minutes }) => minutes > one.minutes)
      .map((other) => (valueOf(other) - valueOf(one)) / (other.minutes - one.minutes)),
  );
  return slopes.toSorted((a, b) => a - b)[Math.floor(slopes.length / 2)] ?? 0;
}

/** For people: one line a store. */
export function asText(reports: readonly StoreReport[]): string {
  const lines = reports.map((report) => {
    const first = report.samples[Math.floor(report.samples.length * WARM_UP)];
    const last = report.samples.at(-1);
    const from = (pick: (sample: SoakSample) => number | undefined) =>
      `${(first && pick(first)) ?? '-'} → ${(last && pick(last)) ?? '-'}`;
    return [
      report.store,
      report.rounds,
      report.grants,
      Object.values(report.refusals).reduce((a, b) => a + b, 0),
      report.losses,
      Object.values(report.faults).reduce((a, b) => a + b, 0),
      from(({ heap }) => Math.round(heap / 1_024)),
      report.heapSlope === undefined ? '-' : report.heapSlope.toFixed(1),
      from(({ timers }) => timers),
      from(({ resources }) => resources),
      from(({ connections }) => connections),
      from(({ stored }) => stored),
      report.violations.length,
      report.leftovers.length,
      report.leaks.length,
    ].join(' | ');
  });
  const header =
    'store | rounds | grants | refusals | losses | faults | heap, KB | KB a minute | timers | handles | connections | stored | violations | leftovers | leaks';
  const rule = header.replaceAll(/[^|]+/g, ' --- ').trim();
  return [header, rule, ...lines].map((line) => `| ${line} |`).join('\n');
}
