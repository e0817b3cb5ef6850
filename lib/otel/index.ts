export { instrumentLocks } from './instrument-locks.js';
export type { InstrumentLocksOptions } from './instrument-locks.js';
