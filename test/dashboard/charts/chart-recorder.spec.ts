import { LockEvents } from 'nest-holdfast/core';
import type { LockAttemptEvent } from 'nest-holdfast/core';
import { ChartRecorder } from '../../../lib/dashboard/charts/chart-recorder.js';

const START = 1_000_000_000;
const POINT = 5_000;

function recorded() {
  const events = new LockEvents();
  let now = START;
  const recorder = new ChartRecorder(events, () => now);
  const event = (name: string | undefined, waited: number) => () =>
    ({ key: 'a', name, waited }) as LockAttemptEvent;
  return {
    events,
    recorder,
    pass: (ms: number) => void (now += ms),
    grant: (name: string | undefined, ...waits: readonly number[]) => {
      for (const waited of waits) events.publish('held', event(name, waited));
    },
    refuse: (name?: string) => events.publish('refused', event(name, 0) as never),
    timeOut: (name?: string) => events.publish('timeout', event(name, 0) as never),
  };
}

describe('the charts', () => {
  it('have a point for every 5 s that have ended, a rate a second, and waits', () => {
    const { recorder, grant, refuse, timeOut, pass } = recorded();
    grant('order', ...Array.from({ length: 100 }, (_, index) => index + 1));
    refuse('order');
    timeOut('order');
    expect(recorder.charts().times).toEqual([]);
    pass(2 * POINT);
    const { times, series } = recorder.charts();
    expect(times).toEqual([START / 1_000, START / 1_000 + 5]);
    expect(series).toMatchObject([
      { name: 'order', isOthers: false, grants: [20, 0], refusals: [0.4, 0] },
    ]);
    const [{ waitP50, waitP99 }] = series as [(typeof series)[0]];
    expect([waitP50[1], waitP99[1]]).toEqual([null, null]);
    expect(Math.abs(waitP50[0]! / 50 - 1)).toBeLessThan(0.1);
    expect(Math.abs(waitP99[0]! / 99 - 1)).toBeLessThan(0.1);
  });

  it.each([0, 0.2, 1, 37, 1_000, 60_000, 86_400_000])(
    'a wait of %s ms is off by at most a tenth',
    (waited) => {
      const { recorder, grant, pass } = recorded();
      grant('order', waited, waited, waited);
      pass(POINT);
      const [{ waitP50, waitP99 }] = recorder.charts().series as never as [{ waitP50: number[]; waitP99: number[] }]; // prettier-ignore
      expect(waitP99).toEqual(waitP50);
      if (waited < 50_000_000)
        expect(Math.abs(waitP50[0]! - waited)).toBeLessThanOrEqual(waited / 10);
    },
  );

  it('locks without a name have a series, too', () => {
    const { recorder, grant, pass } = recorded();
    grant(undefined, 1);
    pass(POINT);
    expect(recorder.charts().series).toMatchObject([{ name: '', isOthers: false, grants: [0.2] }]);
  });

  it('keep 10 minutes', () => {
    const { recorder, grant, pass } = recorded();
    for (let second = 0; second < 900; second++) {
      grant('order', 1);
      pass(1_000);
    }
    const { times, series } = recorder.charts();
    expect(times).toHaveLength(120);
    expect(times.at(-1)).toBe((START + 900_000 - POINT) / 1_000);
    expect(new Set(series[0]!.grants)).toEqual(new Set([1]));
  });

  it('have at most 20 names, and the rest together; a silent name makes room', () => {
    const { recorder, grant, pass } = recorded();
    for (let number = 0; number < 100; number++) grant(`name${number}`, 1);
    pass(POINT);
    const { series } = recorder.charts();
    expect(series).toHaveLength(21);
    expect(series.at(-1)).toMatchObject({ name: '', isOthers: true, grants: [16] });
    pass(130 * POINT);
    grant('late', 1);
    pass(POINT);
    expect(recorder.charts().series).toMatchObject([{ name: 'late' }]);
  });

  it('a pause of a day costs no more than 10 minutes', () => {
    const { recorder, grant, pass } = recorded();
    grant('order', 1);
    pass(86_400_000 * 1_000);
    expect(recorder.charts().times).toHaveLength(120);
    expect(recorder.charts().series).toEqual([]);
  });

  it('listen to nothing any more when they are closed', () => {
    const { events, recorder } = recorded();
    recorder.close();
    for (const name of ['held', 'refused', 'timeout']) expect(events.listenerCount(name)).toBe(0);
  });
});
