/** What Node's emitters have, and clients that are made of one. */
interface Roomy {
  getMaxListeners?(): number;
  setMaxListeners?(most: number): unknown;
}

/** Of so many more listeners, or fewer, that Node is not to take for a leak: their owner removes them. */
export function makeRoom(emitter: object, listeners: number): void {
  const roomy: Roomy = emitter;
  const most = roomy.getMaxListeners?.() ?? 0;
  if (most > 0) roomy.setMaxListeners?.(most + listeners); // 0: any number
}
