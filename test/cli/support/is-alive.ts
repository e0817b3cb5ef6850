import { readFileSync, readdirSync } from 'node:fs';

/** Whether the process runs. One that has ended, and that its parent has not asked for, does not. */
export function isAlive(pid: number): boolean {
  const [state] = statOf(pid);
  return state !== undefined && !'ZX'.includes(state);
}

/** The first child of a process. Throws where it has none. */
export function childOf(pid: number): number {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const child = pids.find((each) => statOf(Number(each))[1] === String(pid));
  if (child === undefined) throw new Error(`Process ${pid} has no child`);
  return Number(child);
}

/** Its state and its parent. */
function statOf(pid: number): string[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return []; // it has ended
  }
}
