import { REQUESTS, UNITS } from './race.js';
import type { RaceResult } from './race.js';
import { table } from './table.js';

export interface Outcome {
  readonly processes: number;
  readonly store: string;
  readonly unlocked: RaceResult;
  readonly locked: RaceResult;
}

export function report({ processes, store, unlocked, locked }: Outcome): string {
  const setting = { processes, store, requests: REQUESTS, stock: UNITS };
  const rows = [
    { mode: 'without lock', ...setting, ...cells(unlocked) },
    { mode: 'with lock', ...setting, ...cells(locked) },
  ];
  return `${table(rows)}

Without the lock, ${unlocked.sold} units were sold where there were ${UNITS}, and the stock still says ${unlocked.left}:
orders read the same number before one of them wrote it. With the lock, ${locked.sold} were sold and ${locked.left}
are left: one order at a time, whichever process it came to.`;
}

function cells({ sold, oversold, perSecond, waitP50, waitP99 }: RaceResult) {
  return {
    sold,
    oversold,
    'requests/s': perSecond.toFixed(0),
    'wait p50': `${waitP50.toFixed(0)} ms`,
    'wait p99': `${waitP99.toFixed(0)} ms`,
  };
}
