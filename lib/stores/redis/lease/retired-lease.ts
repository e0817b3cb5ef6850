import { RETIRE } from '../evict/evict-script.js';
import type { NamedLock } from '../keys/named-lock.js';
import { isOne } from '../lua/replies.js';
import type { LeaseContext } from './lease-context.js';

/** The lock of a holder that was asked to stop: its value says which token it has. */
export class RetiredLease {
  readonly #before: NamedLock;
  readonly #retired: NamedLock;
  readonly #context: LeaseContext;

  constructor(held: NamedLock, fencingToken: bigint, context: LeaseContext) {
    this.#before = held;
    this.#retired = { ...held, value: held.value.replace(':', `!${fencingToken}:`) };
    this.#context = context;
  }

  /** Keeps the lock for `ms` more. Resolves `false` when a key is not ours. */
  confirm(ms: number): Promise<boolean> {
    const { request, keys, value } = this.#before;
    const locks = keys.slice(0, request.keys.length);
    return this.#context.runner.change(RETIRE, locks, [value, this.#retired.value, ms], isOne);
  }

  /** Also where `confirm` has failed, or was late. */
  async release(): Promise<boolean> {
    const { lockCalls } = this.#context;
    return (await lockCalls.release(this.#retired)) || lockCalls.release(this.#before);
  }
}
