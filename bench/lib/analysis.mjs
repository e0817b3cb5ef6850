import { jain, quantile, rankCorrelation, sum } from './stats.mjs';

/** What the events of one burst or steady run say, all times in ms. `commands`: what all clients sent meanwhile. */
export function analyse({ events, failures }, { commands, roundTrip }) {
  const grants = events.toSorted((a, b) => a.granted - b.granted);
  const handOffs = grants.slice(1).map(({ granted }, index) => granted - grants[index].released);
  const waits = grants.map(({ granted, requested }) => granted - requested);
  // the 1 ms timer takes about 1.1 ms; longer holds are the candidate's own overload and not ideal
  const held = sum(grants.map(({ granted, released }) => Math.min(released - granted, 1.1)));
  const ideal = held + grants.length * roundTrip; // a grant through the server costs a round trip
  const total =
    Math.max(...grants.map(({ ended }) => ended)) -
    Math.min(...grants.map(({ requested }) => requested));
  return {
    grants: grants.length,
    'total ms': total,
    'total/ideal': total / ideal,
    'hand-off p50': quantile(handOffs, 0.5),
    'hand-off p99': quantile(handOffs, 0.99),
    'commands/grant': commands / grants.length,
    'longest wait': Math.max(...waits),
    overlaps: handOffs.filter((ms) => ms < 0).length, // two holders at once
    failed: failures.length,
    'failed releases': grants.filter(({ error }) => error).length,
    error: failures[0] ?? grants.find(({ error }) => error)?.error ?? '',
  };
}

/** 1: granted in the order of the requests. */
export function orderOf({ events }) {
  const ids = (field) => events.toSorted((a, b) => a[field] - b[field]).map(({ id }) => id);
  return rankCorrelation(ids('requested'), ids('granted'));
}

/** How evenly the grants are spread over the workers. */
export function fairnessOf(events, workers) {
  const counts = Array.from({ length: workers }, () => 0);
  for (const { id } of events) counts[id]++;
  return { jain: jain(counts), fewest: Math.min(...counts), most: Math.max(...counts) };
}

/** Share of the hand-overs that stayed inside one process of `size` waiters. */
export function stayedInProcess({ events }, size) {
  const processes = events
    .toSorted((a, b) => a.granted - b.granted)
    .map(({ id }) => Math.floor(id / size));
  const stayed = processes.filter((each, index) => index > 0 && each === processes[index - 1]);
  return stayed.length / Math.max(1, processes.length - 1);
}
