import { AdminServer } from './admin-client.js';
import { checkServers, checkTarget, clockAhead } from './copy-checks.js';
import { CopyError, cutOff, refuse } from './copy-error.js';
import { copyKeys, deleteKeys } from './copy-keys.js';
import { CopyMark } from './copy-mark.js';
import type { RedisCopyStep, ResolvedCopy } from './copy-options.js';
import { Gate } from './gate.js';
import { LockKeys } from './lock-keys.js';

export interface RedisCopyResult {
  /** Locks that were held. */
  readonly locks: number;
  /** Milliseconds from the close of `from` to the opening of `to`. */
  readonly closedFor: number;
}

/** The steps of one copy, and the ways back. */
export class RedisCopy {
  readonly #options: ResolvedCopy;
  readonly #from: AdminServer;
  readonly #to: AdminServer;
  readonly #source: Gate;
  readonly #target: Gate;
  readonly #keys: LockKeys;
  readonly #mark: CopyMark;

  constructor(options: ResolvedCopy) {
    this.#options = options;
    this.#from = new AdminServer(options.from);
    this.#to = new AdminServer(options.to);
    this.#source = new Gate(this.#from, options.user);
    this.#target = new Gate(this.#to, options.user);
    this.#keys = new LockKeys(options.keyPrefix, options.clientPrefix);
    this.#mark = new CopyMark(this.#from);
  }

  async run(): Promise<RedisCopyResult> {
    await this.#check();
    await this.#leaveMark();
    let closedAt: number;
    let locks: number;
    try {
      await this.#begin('close');
      closedAt = performance.now();
      await this.#source.close();
      locks = await this.#copy();
      await this.#begin('open');
      await this.#checkOpening(closedAt);
    } catch (error) {
      throw await this.#undone(error);
    }
    await this.#open();
    const closedFor = performance.now() - closedAt;
    await this.#moveClients();
    return { locks, closedFor };
  }

  async settle(): Promise<'moved' | 'undone'> {
    const isMoved = await this.#target.isOn();
    const isOver = (await this.#mark.rights()) === undefined;
    if (!isOver) await (isMoved ? this.#retire() : this.#undo());
    return isMoved ? 'moved' : 'undone';
  }

  async #check(): Promise<void> {
    await this.#begin('check');
    const from = { name: 'from', server: this.#from, gate: this.#source } as const;
    const to = { name: 'to', server: this.#to, gate: this.#target } as const;
    const { user } = this.#options;
    await checkServers(from, to, user);
    if ((await this.#mark.rights()) !== undefined) refuse(BEGUN);
    await checkTarget(to, user, this.#keys);
  }

  /** One copy at a time: another one would undo ours. */
  async #leaveMark(): Promise<void> {
    const { commands } = (await this.#source.rights())!;
    const isOurs = await this.#mark.leave(commands).catch((error: unknown) => {
      throw cutOff('whether it has begun is not known', error);
    });
    if (!isOurs) refuse(BEGUN);
  }

  async #copy(): Promise<number> {
    await this.#begin('copy');
    const ahead = await clockAhead(this.#from, this.#to);
    const copy = { from: this.#from, to: this.#to, keys: this.#keys, ahead };
    return copyKeys(copy, this.#options.signal);
  }

  async #checkOpening(closedAt: number): Promise<void> {
    if ((await this.#mark.rights()) === undefined) throw new Error('it was settled meanwhile');
    const passed = performance.now() - closedAt;
    const { within } = this.#options;
    if (passed > within) throw new Error(`it took ${Math.round(passed)} ms, of ${within}`);
  }

  /** From here on, `from` must never serve again: where the answer is missing, `to` may be open. */
  async #open(): Promise<void> {
    try {
      await this.#target.switchOn();
    } catch (error) {
      throw cutOff('whether "to" is open is not known', error);
    }
  }

  async #moveClients(): Promise<void> {
    try {
      await this.#begin('move');
      await this.#options.move();
      await this.#begin('retire');
      await this.#retire();
    } catch (error) {
      throw cutOff('"to" is open, and the applications are not moved to it', error);
    }
  }

  async #retire(): Promise<void> {
    await this.#source.retire();
    await this.#mark.remove();
  }

  async #undone(cause: unknown): Promise<CopyError> {
    try {
      await this.#undo();
    } catch (error) {
      return cutOff('"from" is closed still', new AggregateError([cause, error]));
    }
    return new CopyError('LOCK_COPY_UNDONE', 'The copy failed and was undone: "from" serves again', { cause }); // prettier-ignore
  }

  /** `to` first: nothing of the copy may be left when it is tried again. */
  async #undo(): Promise<void> {
    await deleteKeys(this.#to, this.#keys);
    const commands = await this.#mark.rights();
    if (commands === undefined) return; // it was not closed
    await this.#source.reopen(commands);
    await this.#mark.remove();
  }

  async #begin(step: RedisCopyStep): Promise<void> {
    if (step !== 'move' && step !== 'retire') this.#options.signal?.throwIfAborted();
    await this.#options.onStep?.(step);
  }
}

const BEGUN = 'a copy from this server has begun, and has not ended: wait for it, or settle it where it was cut off'; // prettier-ignore
