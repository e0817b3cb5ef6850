import type { Process } from '../api.js';

const OF_THIS_LIBRARY = /^(.+):(\d{1,10}):(\d{1,15})$/s;

/** The parts of `host:pid:startTime`. A foreign holder may have written anything. */
export function processOf(text: string): Process {
  const [, host, pid, since] = OF_THIS_LIBRARY.exec(text) ?? [];
  if (host === undefined) return { text };
  return { host, pid: Number(pid), since: Number(since), text };
}
