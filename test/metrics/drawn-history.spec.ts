import { MeterProvider } from '@opentelemetry/sdk-metrics';
import { Registry } from 'prom-client';
import { instrumentLocks } from 'nest-holdfast/otel';
import { lockMetrics } from 'nest-holdfast/prometheus';
import { inMemory } from '../core/support/setup';
import { asScraped, Reader } from '../otel/support/metrics-sdk';
import { scrape } from '../prometheus/scrape';
import { seeded } from '../support/histories/history-random';
import { DrawnHistory } from './support/drawn-history';

const SEED = Number(process.env['HOLDFAST_TEST_SEED'] ?? Date.now() % 2 ** 32);
const STEPS = 150;
const DURATION = /_duration_seconds_(count|sum)\{/;

it(`both libraries measure what callers see of ${STEPS} calls (seed ${SEED})`, async () => {
  const setup = inMemory({ retryDelay: 100, retryJitter: 0 });
  const register = new Registry();
  const reader = new Reader();
  lockMetrics(setup.locks, { register });
  instrumentLocks(setup.locks, { meterProvider: new MeterProvider({ readers: [reader] }) });
  const history = new DrawnHistory(setup, seeded(SEED));
  for (let step = 0; step < STEPS; step++) await history.step();
  const expected = history.series();
  expect(Object.keys(expected).length).toBeGreaterThan(20);
  const only = (all: Record<string, number>) =>
    Object.fromEntries(Object.entries(all).filter(([series]) => DURATION.test(series)));
  const near = Object.fromEntries(
    Object.entries(expected).map(([series, value]) => [series, expect.closeTo(value, 6)]),
  );
  expect(only(await scrape(register))).toEqual(near);
  expect(only(asScraped(await reader.read()))).toEqual(near);
});
