import { metrics } from '@opentelemetry/api';
import { DataPointType, MeterProvider } from '@opentelemetry/sdk-metrics';
import { Registry } from 'prom-client';
import { instrumentLocks } from 'nest-holdfast/otel';
import { lockMetrics } from 'nest-holdfast/prometheus';
import { inMemory } from '../core/support/setup';
import { knownHistory } from '../metrics/support/known-history';
import { scrape } from '../prometheus/scrape';
import { asScraped, Reader } from './support/metrics-sdk';

function sdk() {
  const reader = new Reader();
  return { reader, meterProvider: new MeterProvider({ readers: [reader] }) };
}

describe('instrumentLocks', () => {
  afterEach(() => metrics.disable());

  it('measures a history of which the values are known, as lockMetrics does', async () => {
    const { reader, meterProvider } = sdk();
    const register = new Registry();
    await knownHistory((locks) => instrumentLocks(locks, { meterProvider })).play();
    await knownHistory((locks) => lockMetrics(locks, { register })).play();
    const scraped = Object.entries(await scrape(register));
    const expected = scraped.filter(([name]) => !name.includes('_bucket'));
    expect(expected).toHaveLength(21);
    const measured = asScraped(await reader.read());
    expect(measured).toEqual(
      Object.fromEntries(expected.map(([name, value]) => [name, expect.closeTo(value, 6)])),
    );
  });

  it('names, units and buckets are those of the conventions', async () => {
    const { reader, meterProvider } = sdk();
    await knownHistory((locks) => instrumentLocks(locks, { meterProvider })).play();
    const all = await reader.read();
    const acquire = all.get('holdfast.lock.acquire.duration')!;
    expect(acquire).toMatchObject({
      descriptor: { unit: 's' },
      dataPointType: DataPointType.HISTOGRAM,
    });
    const { value } = acquire.dataPoints[0]! as { value: { buckets: { boundaries: number[] } } };
    expect(value.buckets.boundaries.at(0)).toBe(0.001);
    expect(value.buckets.boundaries.at(-1)).toBe(60);
    expect(all.get('holdfast.lock.count')).toMatchObject({
      descriptor: { unit: '{lock}' },
      isMonotonic: false,
      dataPoints: [
        {
          value: 1,
          attributes: {
            'holdfast.lock.name': 'order:<id>',
            'holdfast.lock.mode': 'write',
            'holdfast.store.name': 'fake',
            'holdfast.lock.state': 'held',
          },
        },
      ],
    });
    expect(JSON.stringify([...all])).not.toMatch(/secret|order:\d/);
  });

  it('measures as soon as the SDK has started, also if that is later', async () => {
    const { locks } = inMemory();
    instrumentLocks(locks);
    await locks.withLock('a', () => {});
    const { reader, meterProvider } = sdk();
    metrics.setGlobalMeterProvider(meterProvider);
    await locks.withLock('a', () => {});
    const hold = (await reader.read()).get('holdfast.lock.hold.duration')!;
    expect(hold.dataPoints).toMatchObject([{ value: { count: 1 } }]);
  });

  it('adds up services of one store, and ends when its result is called', async () => {
    const { reader, meterProvider } = sdk();
    const { locks, others } = inMemory();
    const end = instrumentLocks(locks, { meterProvider });
    instrumentLocks(others, { meterProvider });
    await locks.acquire('a');
    await others.acquire('b');
    const counts = async () =>
      (await reader.read()).get('holdfast.lock.count')!.dataPoints.map(({ value }) => value);
    expect(await counts()).toEqual([2]);
    end();
    await locks.acquire('c');
    expect(await counts()).toEqual([1]);
  });
});
