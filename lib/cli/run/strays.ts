import { readFileSync } from 'node:fs';
import { systemClock } from '../../core/async/clock.js';
import { sleep } from '../../core/async/sleep.js';
import { processIds } from './group-members.js';

/** In the environment of a supervisor, of the command that it starts, and of all that this starts. */
export const RUN_ID = 'HOLDFAST_RUN_ID';

/** Milliseconds between two looks. */
const LOOK_EVERY = 10;
/** Milliseconds in which a process ends that was killed. */
const KILLED_WITHIN = 10_000;

/**
 * Kills what a supervisor has started that died before it could name the process group. Only where the system has `/proc`. Resolves
 * once nothing of the run is left.
 */
export async function killStrays(runId: string): Promise<void> {
  const end = systemClock.now() + KILLED_WITHIN;
  for (;;) {
    const strays = straysOf(runId);
    if (strays.length === 0 || systemClock.now() >= end) return;
    strays.forEach(kill);
    await sleep(systemClock, LOOK_EVERY);
  }
}

function straysOf(runId: string): number[] {
  try {
    return processIds().filter((pid) => pid !== process.pid && isOf(pid, runId));
  } catch {
    return [];
  }
}

/** `false` for a process of another user, and for one that has ended. */
function isOf(pid: number, runId: string): boolean {
  try {
    const environment = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
    return environment.includes(`${RUN_ID}=${runId}`);
  } catch {
    return false;
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // it has ended meanwhile
  }
}
