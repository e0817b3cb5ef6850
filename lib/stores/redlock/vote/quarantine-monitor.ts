import { inRootContext } from '../../../core/async/root-context.js';
import { sleep } from '../../../core/async/sleep.js';
import type { Cancel } from '../../../core/async/clock.js';
import type { RedlockNode } from '../node/redlock-node.js';
import { NodeQuarantine, admitAllFresh } from '../node/node-quarantine.js';
import type { QuarantineRules } from '../node/node-quarantine.js';
import { majorityOf } from './vote.js';

/** Milliseconds that the first callers wait for the nodes to connect. */
const LONGEST_OPENING = 1_000;
/** Milliseconds between two checks of nodes that are in use. */
const LOOK = 1_000;

/** Keeps the quarantines: reads each server at every new connection, and checks them while they are in use. */
export class QuarantineMonitor {
  readonly #nodes: readonly RedlockNode[];
  readonly #registers: readonly NodeQuarantine[];
  readonly #rules: QuarantineRules;
  readonly #opened = new AbortController();
  #opening: Promise<void> | undefined;
  #waiting = 0;
  #wasUsed = false;
  #stopLooking: Cancel | undefined;

  constructor(nodes: readonly RedlockNode[], rules: QuarantineRules) {
    this.#nodes = nodes;
    this.#rules = rules;
    this.#registers = nodes.flatMap((node) => {
      const link = node.store.server;
      if (!link) return [];
      const register = new NodeQuarantine(node, link, rules);
      node.record = register;
      return register;
    });
    inRootContext(() => this.#registers.forEach((register) => this.#follow(register)));
    if (this.#registers.length === 0) this.#opened.abort();
  }

  /** A majority may vote, or all are known, or that took too long. */
  get isOpen(): boolean {
    return this.#opened.signal.aborted;
  }

  /** Asks once `opened` has resolved. */
  async whenOpen<T>(ask: () => Promise<T>): Promise<T> {
    await this.opened();
    return ask();
  }

  /** Resolves once it is open. Never rejects. */
  opened(): Promise<void> {
    this.#opening ??= inRootContext(() => this.#open());
    return this.#opening;
  }

  /** A request with this ttl is made. */
  used(ttl: number): void {
    this.#rules.largestTtl = Math.max(ttl, this.#rules.largestTtl);
    this.#wasUsed = true;
    this.#look();
  }

  /** A caller waits at a node, until the returned function is called. */
  waiting(): () => void {
    this.#waiting++;
    this.#look();
    return () => void this.#waiting--;
  }

  close(): void {
    this.#opened.abort();
    this.#stopLooking?.();
  }

  async #open(): Promise<void> {
    await sleep(this.#rules.clock, LONGEST_OPENING, this.#opened.signal);
    this.#opened.abort();
  }

  /** The first reading also connects a client that waits for its first command. */
  #follow(register: NodeQuarantine): void {
    const { link, node } = register;
    link.onReady(() => void this.#read(register));
    link.onLost(() => node.unfit());
    void this.#read(register);
  }

  /** Never rejects. */
  async #read(register: NodeQuarantine): Promise<void> {
    await register.read();
    if (this.#rules.mode === 'unless-all-fresh') admitAllFresh(this.#registers);
    const known = this.#nodes.filter(({ record }) => record?.isKnown ?? true);
    const voting = known.filter(({ barred }) => barred === undefined);
    const areAllKnown = known.length === this.#nodes.length;
    if (areAllKnown || voting.length >= majorityOf(this.#nodes)) this.#opened.abort();
    if (areAllKnown) for (const each of this.#registers) each.announce();
  }

  /** Every second while it is used: a clock may jump, and a server may hang while callers only wait on it. */
  #look(): void {
    if (this.#stopLooking || this.#registers.length === 0) return;
    const look = () => {
      this.#stopLooking = undefined;
      setImmediate(() => this.#readAll()); // after the answers that have arrived already
      if (this.#wasUsed || this.#waiting > 0) this.#look();
      this.#wasUsed = false;
    };
    this.#stopLooking = inRootContext(() => this.#rules.clock.schedule(LOOK, look, true));
  }

  #readAll(): void {
    for (const register of this.#registers) {
      if (!register.link.isReady) continue;
      if (register.silence < LOOK) void this.#read(register);
      else register.node.silent(`it has not answered for ${Math.round(register.silence)} ms`);
    }
  }
}
