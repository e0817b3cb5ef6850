import type { LockService } from '../../core/lock.service.js';
import { thisHolder } from '../../core/store/acquire-request.js';
import type { Charts, LockAction, LockRow, Snapshot, SnapshotQuery } from '../api.js';
import type { Sample } from './sample.js';
import type { SampledLock } from './sampled-lock.js';
import { EVERY } from './sampler.js';

/** Rows of a snapshot. */
const MOST_ROWS = 200;
/** Names for the filter. */
const MOST_NAMES = 200;
/** Maximum number of queries whose text is kept for viewers with the same query. */
const MOST_TEXTS = 50;
const WAITERS_OF_ROW = 10;
const WAITERS_OF_DETAIL = 100;

export interface SnapshotContext {
  readonly locks: LockService;
  readonly actions: readonly LockAction[];
  charts(): Charts;
}

/** The snapshot as JSON. Viewers with the same query get the same text. */
export function snapshotText(
  sample: Sample,
  query: SnapshotQuery,
  context: SnapshotContext,
): string {
  const id = JSON.stringify([query.search, query.state, query.name, query.key, context.actions]);
  const known = sample.texts.get(id);
  if (known !== undefined) return known;
  const text = JSON.stringify(snapshotOf(sample, query, context));
  if (sample.texts.size < MOST_TEXTS) sample.texts.set(id, text);
  return text;
}

function snapshotOf(sample: Sample, query: SnapshotQuery, context: SnapshotContext): Snapshot {
  const { at, canList, isComplete, isPartial, failure, locks } = sample;
  const charts = context.charts();
  const fitting = locks.filter((lock) => fits(lock, query));
  return {
    at,
    every: EVERY,
    store: context.locks.storeName,
    reader: thisHolder,
    actions: context.actions,
    canList,
    total: fitting.length,
    isComplete,
    isReading: isPartial,
    failure,
    locks: fitting.slice(0, MOST_ROWS).map((lock) => lock.row(thisHolder, WAITERS_OF_ROW)),
    ...(query.key !== undefined && { detail: detailOf(sample, query.key) }),
    nodes: sample.nodes.map(({ node, state }) => ({ name: node, state })),
    names: namesOf(locks, charts),
    charts,
  };
}

function fits(lock: SampledLock, { search, state, name }: SnapshotQuery): boolean {
  if (state !== undefined && lock.state !== state) return false;
  if (name !== undefined && lock.name !== name) return false;
  return search === undefined || lock.text.includes(search.toLowerCase());
}

function detailOf(sample: Sample, key: string): LockRow | null | undefined {
  const lock = sample.lock(key);
  return lock ? lock.row(thisHolder, WAITERS_OF_DETAIL) : lock;
}

function namesOf(locks: readonly SampledLock[], { series }: Charts): string[] {
  const names = new Set(series.filter(({ isOthers }) => !isOthers).map(({ name }) => name));
  for (const { name } of locks) {
    if (names.size >= MOST_NAMES) break;
    if (name !== undefined) names.add(name);
  }
  return [...names].filter((name) => name !== '').toSorted();
}
