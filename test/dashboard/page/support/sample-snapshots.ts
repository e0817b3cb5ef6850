import type { ChartSeries, LockRow, Process, Snapshot } from '../../../../lib/dashboard/api.js';

/** Milliseconds since 1970: the samples are of one moment. */
const AT = Date.UTC(2026, 2, 4, 12, 3, 10);
const MINUTE = 60_000;
const POINTS = 121;

export function processOf(host: string, pid: number): Process {
  const since = AT - 95 * MINUTE;
  return { host, pid, since, text: `${host}:${pid}:${since}` };
}

/** A write lock without waiters. */
export function rowOf(part: Partial<LockRow> & Pick<LockRow, 'key'>): LockRow {
  return {
    mode: 'write',
    holders: [processOf('shop-1', 4121)],
    state: 'held',
    isLocal: false,
    heldFor: 2_000,
    remaining: 28_000,
    fencingToken: '1772625790000001',
    waiterCount: 0,
    waiters: [],
    ...part,
  };
}

export function snapshotOf(part: Partial<Snapshot> = {}): Snapshot {
  const locks = part.locks ?? [];
  return {
    at: AT,
    every: 2_000,
    store: 'redis',
    reader: `shop-1:4121:${AT - 95 * MINUTE}`,
    actions: [],
    canList: true,
    total: locks.length,
    isComplete: true,
    isReading: false,
    nodes: [],
    names: [],
    charts: { times: [], series: [] },
    ...part,
    locks,
  };
}

/** A shop at noon: urgent locks, a line, sharers, nodes, ten minutes of calls. */
export function busySnapshot(part: Partial<Snapshot> = {}): Snapshot {
  const names = ['invoice:<id>', 'order:<id>', 'report:<day>', 'stock:<sku>'];
  const locks = [...urgentRows(), ...longRows(), ...shortRows()];
  return snapshotOf({ locks, names, charts: chartsOf(names), ...part });
}

function urgentRows(): LockRow[] {
  return [
    rowOf({
      key: 'stock:SKU-20417',
      name: 'stock:<sku>',
      state: 'jeopardy',
      isLocal: true,
      heldFor: 41_000,
      remaining: 6_400,
      waiterCount: 14,
      waiters: lineOf(14),
    }),
    rowOf({
      key: 'report:2026-03-03',
      name: 'report:<day>',
      state: 'overdue',
      isLocal: true,
      heldFor: 37 * MINUTE,
      remaining: 22_000,
      fencingToken: '1772623570000014',
    }),
  ];
}

function longRows(): LockRow[] {
  return [
    rowOf({
      key: 'leader:mail-sender',
      holders: [processOf('worker-7', 88)],
      heldFor: 3 * 24 * 60 * MINUTE,
      fencingToken: '1772366590000002',
      waiterCount: 2,
      waiters: [processOf('worker-2', 91), processOf('worker-5', 87)],
    }),
    rowOf({
      key: 'search-index',
      mode: 'read',
      permits: 'unlimited',
      holders: [processOf('shop-2', 4070), processOf('shop-3', 4188), processOf('shop-1', 4121)],
      heldFor: 12_000,
      fencingToken: undefined,
    }),
    rowOf({
      key: 'payment-provider',
      mode: 'permits',
      permits: 3,
      holders: [processOf('shop-2', 4070), processOf('shop-3', 4188)],
      heldFor: 4_000,
      fencingToken: undefined,
    }),
  ];
}

function shortRows(): LockRow[] {
  return Array.from({ length: 9 }, (_, index) =>
    rowOf({
      key: `order:${10_452 + 7 * index}`,
      name: index % 3 === 0 ? 'order:<id>' : undefined,
      isLocal: index % 3 === 0,
      holders: [processOf(`shop-${1 + (index % 3)}`, [4121, 4070, 4188][index % 3]!)],
      heldFor: 2_900 - 300 * index,
      remaining: 27_000 + 300 * index,
      fencingToken: String(1_772_625_790_000_020 + 3 * index),
      waiterCount: index % 4 === 0 ? 1 : 0,
      waiters: index % 4 === 0 ? [processOf('shop-3', 4188)] : [],
    }),
  );
}

/** Waiters of several processes, in order. */
export function lineOf(count: number): Process[] {
  return Array.from({ length: count }, (_, index) =>
    processOf(`shop-${1 + ((2 * index) % 3)}`, 4_070 + 17 * (index % 7)),
  );
}

function chartsOf(names: readonly string[]): Snapshot['charts'] {
  const last = Math.floor(AT / 1_000);
  const times = Array.from({ length: POINTS }, (_, index) => last - 5 * (POINTS - 1 - index));
  return { times, series: names.map((name, index) => seriesOf(name, 1 + index)) };
}

/** Waves, with a peak of refusals towards the end. */
function seriesOf(name: string, number: number): ChartSeries {
  const points = (value: (at: number) => number) =>
    Array.from({ length: POINTS }, (_, at) => value(at));
  const wave = (at: number) =>
    1 + 0.4 * Math.sin(at / (6 + number)) + 0.1 * Math.sin(7 * at * number);
  const peak = (at: number) => Math.exp(-(((at - 95) / 6) ** 2));
  return {
    name,
    isOthers: false,
    grants: points((at) => (24 / number) * wave(at)),
    refusals: points((at) => Math.max(0, (2 / number) * (wave(at) - 1) + (8 / number) * peak(at))),
    waitP50: points((at) => 2 * number * wave(at)),
    waitP99: points((at) => 18 * number * wave(at) + (240 / number) * peak(at)),
  };
}
