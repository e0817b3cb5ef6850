import { readFileSync } from 'node:fs';
import { sleep } from './time.mjs';
import { random } from './random.mjs';

/**
 * How much other programs got in the way: the share of the time that the watched processes were ready to run and had to wait
 * for a CPU. Linux tells; elsewhere it is 0.
 */
export class Noise {
  #pids;
  #start = performance.now();
  #waited;

  constructor(pids) {
    this.#pids = pids;
    this.#waited = waitedMs(pids);
  }

  share() {
    return (waitedMs(this.#pids) - this.#waited) / (performance.now() - this.#start);
  }
}

/** Waits, `patience` ms at most, until a short spin is hardly disturbed. */
export async function quiet(patience, limit = 0.1) {
  const end = performance.now() + patience;
  for (;;) {
    const noise = new Noise([process.pid]);
    const spinEnd = performance.now() + 10;
    while (performance.now() < spinEnd);
    if (noise.share() <= limit || performance.now() >= end) return;
    await sleep(50 + random() * 50);
  }
}

function waitedMs(pids) {
  return pids.reduce((sum, pid) => sum + runDelay(pid), 0);
}

function runDelay(pid) {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, 'latin1').split(' ')[1]) / 1e6;
  } catch {
    return 0; // not Linux, or the process has ended
  }
}
