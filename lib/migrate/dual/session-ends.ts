import { inRootContext } from '../../core/async/root-context.js';
import type { Cancel, Clock } from '../../core/async/clock.js';
import type { AcquireRequest, Lease } from '../../core/contract/lock-store.js';
import { giveBack } from '../../core/store/grant.js';

/**
 * Frees keys that live by a session in one store when their ttl is over in the other one. By the owner token and the key: an
 * attempt that is granted again has a lease of its own.
 */
export class SessionEnds {
  readonly #clock: Clock;
  readonly #cancels = new Map<string, Cancel>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** `ttl` ms from `sentAt`, unless the keys are set anew before. */
  set({ token, keys }: AcquireRequest, lease: Lease, sentAt: number, ttl: number): void {
    this.cancel({ token, keys });
    const names = keys.map((key) => nameOf(token, key));
    const end = () => {
      for (const name of names) this.#cancels.delete(name);
      giveBack(lease);
    };
    const rest = Math.max(0, sentAt + ttl - this.#clock.now());
    const cancel = inRootContext(() => this.#clock.schedule(rest, end, true));
    for (const name of names) this.#cancels.set(name, cancel);
  }

  cancel({ token, keys }: Pick<AcquireRequest, 'token' | 'keys'>): void {
    for (const key of keys) {
      this.#cancels.get(nameOf(token, key))?.();
      this.#cancels.delete(nameOf(token, key));
    }
  }
}

function nameOf(token: string, key: string): string {
  return `${token} ${key}`;
}
