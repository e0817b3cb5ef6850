import { COUNTER_SECONDS } from '../../../lib/stores/redis/lua/fencing-token.js';
import type { InLine } from '../redis-line.js';
import { ScriptDeeds } from './script-deeds.js';
import { ScriptModel } from './script-model.js';
import type { ScriptServer, Seen } from './script-server.js';
import { type Choice, type Step, isIdempotent, stepOf } from './script-steps.js';

/** Milliseconds of a ttl that may pass while a step runs: all ttls are further apart. */
const PASSED = 1e6;
/** How far a floor of the fencing tokens is ahead of the server's clock, in microseconds. */
const AHEAD = 20_000;

/** Runs steps on the server and on the model, and compares the two after each. */
export class ScriptTrial {
  readonly #server: ScriptServer;
  readonly #model: ScriptModel;
  readonly #deeds: ScriptDeeds;
  #seen: readonly Seen[] = [];

  /** `note` gets the name of everything that came about. */
  constructor(server: ScriptServer, note: (outcome: string) => void) {
    this.#server = server;
    this.#model = new ScriptModel(note);
    this.#deeds = new ScriptDeeds(server, this.#model);
  }

  async run(choices: readonly Choice[]): Promise<void> {
    await this.#server.clear();
    for (const choice of choices) {
      const step = stepOf(choice, this.#model);
      const seen = await this.#run(step);
      if (!choice.isTwice || !isIdempotent(step)) continue;
      const seenAgain = await this.#run(step);
      expect(seenAgain.map(whoHasIt)).toEqual(seen.map(whoHasIt));
    }
  }

  async #run(step: Step): Promise<Seen[]> {
    this.#model.beginStep();
    const floor = Math.max(Date.now() * 1_000, this.#last) + AHEAD;
    const before = this.#seen;
    const { expected, reply } = await this.#deeds.do(step, floor);
    const seen = await this.#server.look();
    this.#seen = seen;
    for (const each of seen) this.#compare(each);
    await this.#compareMessages();
    this.#compareReply(step, expected, reply);
    if (step.does === 'acquire with a floor') {
      const fences = (reply as unknown[]).filter((each) => typeof each === 'number' && each > 0);
      for (const fence of fences) expect(fence).toBeGreaterThanOrEqual(floor);
    }
    if (isScript(step))
      seen.forEach((each, index) => expectNobodyForgotten(step, each, before[index]));
    for (const { key, counter } of seen) if (counter) this.#model.of(key).last = tokenOf(counter);
    if (step.does === 'lose counter') {
      await this.#server.timeAfter(this.#last);
    }
    return seen;
  }

  /** The last token of all keys. */
  get #last(): number {
    return Math.max(...[...this.#model.locks.values()].map(({ last }) => last));
  }

  #compare({ key, holder, ttl, entries, queueTtl, counter, counterTtl }: Seen): void {
    const lock = this.#model.of(key);
    expect(holder).toBe(lock.holder?.value ?? null);
    if (lock.holder) expectWithin(ttl, lock.holder.ttl);
    expect(entries.map(asWaiter)).toEqual(lock.line);
    expect(queueTtl > 0).toBe(entries.length > 0);
    expect(counter !== null).toBe(lock.hasCounter);
    if (counter === null) return;
    expectWithin(counterTtl, COUNTER_SECONDS * 1_000);
    const { last, reserved } = lock;
    if (reserved > 0) expect(tokenOf(counter)).toBeGreaterThanOrEqual(last + reserved);
    else expect(tokenOf(counter)).toBe(last);
  }

  async #compareMessages(): Promise<void> {
    const messages = await this.#server.messages();
    expect(messages.map(({ store, text }) => `${store} <- ${text}`)).toEqual(this.#model.said);
  }

  #compareReply({ does, parts }: Step, expected: unknown, reply: unknown): void {
    const isForEach = does === 'wait' || does.includes('acquire');
    const answers = isForEach ? (expected as unknown[]) : [expected];
    const replies = isForEach ? (reply as unknown[]) : [reply];
    expect(replies).toEqual(
      answers.map((answer, index) => {
        const [key = ''] = parts[index]?.keys ?? [];
        const isTakenAgain = parts.slice(index + 1).some(({ keys }) => keys.includes(key));
        if (answer === 'fence' && isTakenAgain) return expect.any(Number);
        return this.#filled(answer, replies[index], key);
      }),
    );
  }

  /** The expectation with the numbers of the server in it, where they are as they should be. */
  #filled(expected: unknown, reply: unknown, key: string): unknown {
    if (Array.isArray(expected)) {
      return expected.map((each, index) => this.#filled(each, (reply as unknown[])?.[index], key));
    }
    const { counter } = this.#seen.find((each) => each.key === key) ?? {};
    if (expected === 'ttl') return Number(reply) > 0 ? reply : 'a ttl';
    if (expected === 'fence') return this.#first(key, counter!);
    if (expected === 'counter') return counter;
    return expected;
  }

  /** The first token of the last block. */
  #first(key: string, counter: string): number {
    return tokenOf(counter) - this.#model.of(key).block + 1;
  }
}

function isScript({ does }: Step): boolean {
  return !['expire', 'delete', 'lose counter', 'foreigner', 'lapse'].includes(does);
}

/** But for the one that is to, no script leaves a free lock to its waiters. One that concerns others may find it so, where a ttl ran out. */
function expectNobodyForgotten({ does, parts }: Step, now: Seen, before: Seen | undefined): void {
  const wasForgotten = before?.holder === null && before.entries.length > 0;
  const mustSettle = does === 'wait' && parts.some(({ keys }) => keys.includes(now.key));
  if (does === 'leave free' || (wasForgotten && !mustSettle)) return;
  expect([now.key, now.holder === null && now.entries.length > 0]).toEqual([now.key, false]);
}

function expectWithin(ttl: number, set: number): void {
  expect(ttl).toBeLessThanOrEqual(set);
  expect(ttl).toBeGreaterThan(set - PASSED);
}

function tokenOf(counter: string): number {
  expect(counter).toMatch(/^\d+$/);
  return Number(counter);
}

function asWaiter({ value, deadline }: InLine): unknown {
  return { value, isLapsed: deadline < Date.now() };
}

/** The part that must be the same after a step that was done twice: not the tokens. */
function whoHasIt({ key, holder, entries }: Seen): unknown {
  return { key, holder, waiters: entries.map(asWaiter) };
}
