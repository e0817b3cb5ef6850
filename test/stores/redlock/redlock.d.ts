/** The package has types, but its `exports` do not lead to them. */
declare module 'redlock' {
  interface HeldLock {
    release(): Promise<unknown>;
  }

  export default class Redlock {
    constructor(
      clients: unknown[],
      settings?: { retryCount?: number; retryDelay?: number; retryJitter?: number },
    );
    acquire(keys: string[], duration: number): Promise<HeldLock>;
  }
}
