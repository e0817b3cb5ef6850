import { TROUBLES } from './bursts.mjs';
import { summarise } from './summary.mjs';

const LONGEST_TEXT = 60;
const ALL_TROUBLES = ['errors', ...TROUBLES];

export function storeColumns(concurrency) {
  return [
    'store',
    'name',
    'cycles/s',
    `cycles/s, ${concurrency}`,
    'requests/cycle',
    'hand-off p50',
    'hand-off p99',
    'requests/grant',
    'grants',
    'one service: hand-off p50',
    'one service: requests/grant',
    'noise',
  ];
}

/** One row for each candidate of a store, out of the samples of its parts; ours first. */
export function storeRows({ store, candidates, single, many, apart, together }, concurrency) {
  const [singles, manys, aparts, togethers] = [single, many, apart, together].map((samples) =>
    Object.fromEntries(summarise(samples, candidates).map((row) => [row.name, row])),
  );
  return candidates.toSorted(oursFirst).map((candidate) => {
    const { name } = candidate;
    const parts = [singles, manys, aparts, togethers].map((rows) => rows[name] ?? {});
    const [one, several, services, service] = parts;
    return {
      store,
      ...candidate,
      'cycles/s': one['cycles/s'],
      [`cycles/s, ${concurrency}`]: several['cycles/s'],
      'requests/cycle': one.commands,
      'hand-off p50': services['hand-off p50'],
      'hand-off p99': services['hand-off p99'],
      'requests/grant': services['commands/grant'],
      grants: services.grants,
      'one service: hand-off p50': service['hand-off p50'],
      'one service: requests/grant': service['commands/grant'],
      noise: Math.max(...parts.map(({ noise = 0 }) => noise)),
      ...Object.fromEntries(ALL_TROUBLES.map((trouble) => [trouble, worst(parts, trouble)])),
    };
  });
}

function oursFirst(a, b) {
  return Number(b.library === 'nest-holdfast') - Number(a.library === 'nest-holdfast');
}

/** The largest number, or the first text. */
function worst(parts, trouble) {
  const values = parts.map((part) => part[trouble]).filter((value) => value !== undefined);
  if (typeof values[0] === 'number') return Math.max(...values);
  const text = values.find(Boolean) ?? '';
  return text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT)}…` : text;
}
