import type { Process } from '../api.js';

/** Characters. A name of this library has a host in it, which has at most 253. */
const LONGEST = 300;
const OF_THIS_LIBRARY = /^(.+):(\d{1,10}):(\d{1,15})$/s;

/** The parts of `host:pid:startTime`. A foreign holder may have written anything. */
export function processOf(written: string): Process {
  const text = clipped(written);
  const [, host, pid, since] = OF_THIS_LIBRARY.exec(text) ?? [];
  if (host === undefined) return { text };
  return { host, pid: Number(pid), since: Number(since), text };
}

function clipped(text: string): string {
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST).toWellFormed()}…`;
}
