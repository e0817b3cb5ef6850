import type { EventEmitter } from 'node:events';

/** Of one more listener, or of one fewer, that Node is not to take for a leak: its owner removes it. */
export function makeRoom(emitter: EventEmitter, listeners: 1 | -1): void {
  const most = emitter.getMaxListeners();
  if (most > 0) emitter.setMaxListeners(most + listeners); // 0: any number
}
