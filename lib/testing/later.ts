/** Node's own, also where a test replaces the global one. */
const nextTurn = setImmediate;

/** Calls back when all promises that can settle by themselves have done so. */
export function later(callback: () => void): void {
  nextTurn(callback);
}
