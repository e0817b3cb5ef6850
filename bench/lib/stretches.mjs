// Where the time of a cycle that is alone goes by the clock: what the process does, what a write takes, and how long the answer
// is waited for, which V8's profiler does not see.
import net from 'node:net';
import { middleMean, sum } from './stats.mjs';

/** Microseconds: until the command leaves, in its write, until its answer is there, and the same for the second one. */
export const STRETCHES = ['ask', 'write', 'answer', 'between', 'write 2', 'answer 2', 'end'];

/** Moments of a cycle: where each stretch begins, and the end. Others were disturbed. */
const MARKS = STRETCHES.length + 1;

let marks = [];

/**
 * Each of the `candidates` takes three turns in every round, the first of which warms the caches and is not counted; with `pause`, one
 * turn after each `pause`. The first `warmUp` rounds are not counted. Returns a row of means for each, without the slowest and the
 * fastest eighth.
 */
export async function stretches(candidates, { rounds, warmUp, pause }) {
  const turns = pause ? (cycle) => paced(cycle, pause) : warm;
  const { write, push } = net.Socket.prototype;
  net.Socket.prototype.write = function (...args) {
    marks.push(performance.now());
    const result = write.apply(this, args);
    marks.push(performance.now());
    return result;
  };
  net.Socket.prototype.push = function (...args) {
    marks.push(performance.now());
    return push.apply(this, args);
  };
  const cycles = candidates.map(({ name }) => ({ name, taken: [] }));
  for (let round = -warmUp; round < rounds; round++) {
    for (const [index, { cycle }] of candidates.entries()) {
      for (const each of await turns(cycle))
        if (round >= 0 && each.length === MARKS) cycles[index].taken.push(each);
    }
  }
  Object.assign(net.Socket.prototype, { write, push });
  return cycles.map(({ name, taken }) => ({ name, ...means(taken) }));
}

async function warm(cycle) {
  await marked(cycle);
  return [await marked(cycle), await marked(cycle)];
}

async function paced(cycle, pause) {
  await pause();
  return [await marked(cycle)];
}

async function marked(cycle) {
  marks = [performance.now()];
  await cycle(0);
  marks.push(performance.now());
  return marks;
}

function means(taken) {
  const all = STRETCHES.map((_, index) =>
    middleMean(taken.map((each) => (each[index + 1] - each[index]) * 1_000)),
  );
  const entries = STRETCHES.map((name, index) => [name, all[index]]);
  return { ...Object.fromEntries(entries), total: sum(all) };
}
