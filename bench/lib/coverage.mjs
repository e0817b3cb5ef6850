import { Session } from 'node:inspector/promises';
import { sleep } from './time.mjs';

/** Measurements of one cycle, of which the one with the fewest functions counts: a timer may run beside one of them. */
const CYCLES = 5;
/** Milliseconds between them. */
const PAUSE = 50;

const session = new Session();
session.connect();
await session.post('Profiler.enable');

/** The functions that `work` runs: where each is, its name, and how often it is called. */
export async function functionsOf(work) {
  let fewest;
  for (let cycle = 0; cycle < CYCLES; cycle++) {
    await sleep(PAUSE);
    const ran = await functionsOfOne(work);
    if (!fewest || ran.length < fewest.length) fewest = ran;
  }
  return fewest;
}

async function functionsOfOne(work) {
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  await session.post('Profiler.takePreciseCoverage');
  await work();
  await new Promise((resolve) => setImmediate(resolve));
  const { result } = await session.post('Profiler.takePreciseCoverage');
  await session.post('Profiler.stopPreciseCoverage');
  return result.flatMap(calledIn);
}

/** The first range of a file is the file itself. */
function calledIn({ url, functions }) {
  return functions
    .filter(({ ranges: [{ count, startOffset }], functionName }) => {
      return count > 0 && (functionName !== '' || startOffset > 0);
    })
    .map(({ ranges: [{ count }], functionName }) => ({ url, count, name: functionName || '()' }));
}
