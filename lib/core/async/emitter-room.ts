/** The listener limit of Node's emitters, and of clients that contain one. */
interface Roomy {
  getMaxListeners?(): number;
  setMaxListeners?(most: number): unknown;
}

/** Raises or lowers an emitter's leak limit by a number of listeners: their owner removes them. */
export function makeRoom(emitter: object, listeners: number): void {
  const roomy: Roomy = emitter;
  const most = roomy.getMaxListeners?.() ?? 0;
  if (most > 0) roomy.setMaxListeners?.(most + listeners); // 0: any number
}
