import { Registry } from 'prom-client';
import { lockMetrics } from 'nest-holdfast/prometheus';
import { inMemory, onFakeStore } from '../../core/support/setup';
import { knownHistory } from '../../metrics/support/known-history';
import { stubQuorum } from '../../stores/redlock/support/stub-quorum';
import { scrape } from '../scrape';

/** Label to its values. */
type Labels = ReadonlyMap<string, ReadonlySet<string>>;

/** The metrics of a scrape with their labels, once every metric has been measured with every label. */
export async function fullScrape(): Promise<ReadonlyMap<string, Labels>> {
  const register = new Registry();
  await knownHistory((locks) => lockMetrics(locks, { register })).play();

  const waited = inMemory();
  lockMetrics(waited.locks, { register });
  await waited.others.acquire('a');
  const waiting = waited.locks.acquire('a', { name: 'n' }).catch(() => undefined);
  await waited.clock.advance(50);

  const urgent = onFakeStore({ ttl: 3_000 });
  lockMetrics(urgent.locks, { register });
  await urgent.locks.acquire('a', { overdueAfter: 500 });
  await urgent.clock.advance(600);
  const jeopardy = onFakeStore({ ttl: 3_000 });
  lockMetrics(jeopardy.locks, { register });
  await jeopardy.locks.acquire('a');
  jeopardy.lease.onExtend = () => Promise.reject(new Error('down'));
  await jeopardy.clock.advance(1_000);

  const quorum = stubQuorum(3, { nodeTimeout: 50, upFor: [60_000, 60_000, 60_000] });
  lockMetrics(quorum.locks, { register });
  await quorum.locks.withLock('a', async () => {});

  const read = labelsOf(Object.keys(await scrape(register)));
  await waited.locks.close();
  await waiting;
  return read;
}

function labelsOf(series: readonly string[]): Map<string, Map<string, Set<string>>> {
  const metrics = new Map<string, Map<string, Set<string>>>();
  for (const each of series) {
    const [, metric, text] = /^(\w+)\{(.*)\}$/.exec(each)!;
    const labels = metrics.get(metric!) ?? new Map<string, Set<string>>();
    metrics.set(metric!, labels);
    for (const [, label, value] of text!.matchAll(/(\w+)="([^"]*)"/g)) {
      labels.set(label!, (labels.get(label!) ?? new Set()).add(value!));
    }
  }
  return metrics;
}
