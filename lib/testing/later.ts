import { setImmediate } from 'node:timers';

/** Node's own, also where a test has replaced the global one, before or after this module was loaded. */
const nextTurn = setImmediate;

/** Calls back when all promises that can settle by themselves have done so. */
export function later(callback: () => void): void {
  nextTurn(callback);
}
