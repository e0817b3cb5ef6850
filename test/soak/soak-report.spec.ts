import { type SoakSample, type StoreReport, isSound, judge } from './soak-report.js';

/** Forty minutes at rest, one sample each. */
function reportOf(valuesAt: (minute: number) => Partial<SoakSample>, minutes = 40): StoreReport {
  const samples = Array.from({ length: minutes }, (_, minute) => {
    const usual = {
      minutes: minute,
      heap: 20e6,
      timers: 3,
      resources: 7,
      connections: 12,
      stored: 7,
    };
    return { ...usual, ...valuesAt(minute) };
  });
  return { store: 'redis', rounds: minutes, grants: 1, losses: 0, refusals: {}, faults: {}, samples, violations: [], leftovers: [], leaks: [] }; // prettier-ignore
}

function leaksOf(report: StoreReport): readonly string[] {
  judge(report);
  expect(isSound(report)).toBe(report.leaks.length === 0);
  return report.leaks;
}

describe('The report of a long run', () => {
  it('accepts values that go up and down, and caches that fill in the first half', () => {
    const heap = (minute: number) => 20e6 + 5e6 * Math.min(minute, 16) + (minute % 3) * 300_000;
    expect(leaksOf(reportOf((minute) => ({ heap: heap(minute), timers: minute % 5 })))).toEqual([]);
  });

  it.each<[keyof SoakSample, number]>([
    ['heap', 60 * 1_024],
    ['timers', 0.5],
    ['resources', 0.5],
    ['connections', 0.5],
    ['stored', 0.5],
  ])('finds a leak: %s', (kind, growth) => {
    const found = leaksOf(reportOf((minute) => ({ [kind]: 100 + Math.floor(minute * growth) })));
    expect(found).toEqual([expect.stringContaining(kind)]);
  });

  it('does not judge the growth of a short run', () => {
    expect(leaksOf(reportOf((minute) => ({ heap: minute * 1e6 }), 10))).toEqual([]);
  });

  it('is not sound with a violation or with what is left in a store', () => {
    const report = reportOf(() => ({}));
    expect(isSound({ ...report, violations: ['two at once'] })).toBe(false);
    expect(isSound({ ...report, leftovers: ['lock:a'] })).toBe(false);
  });
});
