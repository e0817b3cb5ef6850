import { readFileSync, readdirSync } from 'node:fs';

/** Whether a process of the group still runs. One that has ended, and that its parent has not asked for, does not count. */
export function hasMembers(group: number): boolean {
  try {
    process.kill(-group, 0);
  } catch {
    return false;
  }
  const states = statesOf(group);
  return states === undefined || states.some((state) => !'ZX'.includes(state));
}

/** The letters of the states of its processes; `undefined` where the system has no `/proc`. */
function statesOf(group: number): string[] | undefined {
  try {
    return processIds().flatMap((pid) => stateOf(pid, group));
  } catch {
    return undefined;
  }
}

function stateOf(pid: number, group: number): string[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const [state, , itsGroup] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return Number(itsGroup) === group ? [state!] : [];
  } catch {
    return []; // it has ended meanwhile
  }
}

/** Of the whole machine. Throws where the system has no `/proc`. */
export function processIds(): number[] {
  return readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? Number(name) : []));
}
