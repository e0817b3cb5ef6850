import { Registry } from 'prom-client';
import { lockMetrics } from 'nest-holdfast/prometheus';
import { rejectionOf } from '../core/support/outcome';
import { inMemory } from '../core/support/setup';

/** Names that have series of their own. */
const MOST_NAMES = 1_000;
const MOST_ERRORS = 100;

describe('labels that an application gives a value of its own each time', () => {
  let emitWarning: jest.SpyInstance;
  beforeEach(() => {
    emitWarning = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
  });
  afterEach(() => emitWarning.mockRestore());

  const valuesOf = async (register: Registry, metric: string, label: string) => {
    const { values } = await register.getSingleMetric(metric)!.get();
    const series = values.filter((each) => !('le' in each.labels));
    return new Set(series.map(({ labels }) => (labels as Record<string, string>)[label]));
  };

  it('make a bounded number of series: names beyond the first 1,000 share one, with a warning', async () => {
    const { locks } = inMemory();
    const register = new Registry();
    lockMetrics(locks, { register });
    for (let n = 0; n < MOST_NAMES + 500; n++) await locks.withLock('a', { name: `a:${n}` }, () => {}); // prettier-ignore
    const held = await locks.acquire('a', { name: 'a:new' });
    for (const metric of [
      'holdfast_lock_acquire_duration_seconds',
      'holdfast_lock_hold_duration_seconds',
    ]) {
      const names = await valuesOf(register, metric, 'holdfast_lock_name');
      expect(names.size).toBe(MOST_NAMES + 1);
      expect(names).toContain('_OTHER');
      expect(names).not.toContain('a:new');
    }
    expect(await valuesOf(register, 'holdfast_lock_count', 'holdfast_lock_name')).toEqual(new Set(['_OTHER'])); // prettier-ignore
    expect(emitWarning.mock.calls).toEqual([
      [expect.stringMatching(/1,000 names of locks.*name/), { code: 'HOLDFAST_METRICS_NAMES' }],
    ]);
    await held.release();
  });

  it('are errors, too: codes beyond the first 100 share one', async () => {
    const { locks } = inMemory();
    const register = new Registry();
    lockMetrics(locks, { register });
    for (let n = 0; n < MOST_ERRORS + 50; n++) {
      const abort = new AbortController();
      abort.abort(Object.assign(new Error('gone'), { code: `REQUEST_${n}` }));
      await rejectionOf(locks.acquire('a', { signal: abort.signal }));
    }
    const codes = await valuesOf(register, 'holdfast_lock_acquire_duration_seconds', 'error_type');
    expect(codes.size).toBe(MOST_ERRORS + 1);
    expect(codes).toContain('_OTHER');
  });
});
