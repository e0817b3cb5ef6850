export { oncePerTick } from './once-per-tick.js';
export type { TickOptions } from './once-per-tick.js';
