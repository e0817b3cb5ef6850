import { EXTEND, HAND_ON, LEAVE_FREE, RENEW } from '../../../lib/stores/redis/lua/lease-scripts.js';
import { LEAVE, WAIT } from '../../../lib/stores/redis/lua/queue-scripts.js';
import * as shared from '../../../lib/stores/redis/lua/sharing-scripts.js';
import type { RedisScript } from '../../../lib/redis-client/redis-script.js';
import { type Ask, type InLine, lapse, lineOf } from '../redis-line.js';
import { TTL } from './lock-model.js';
import { type ScriptServer, keysOf } from './script-server.js';
import { KEY, SharingModel, asReader, permitsOf } from './sharing-model.js';
import { type Choice, type Step, isRepeatable, stepOf } from './sharing-steps.js';

/** Milliseconds that a place in line is kept: longer than any test. */
const HEARTBEAT = 20e6;

/** Milliseconds of a ttl that may pass while the steps run: all ttls are further apart. */
const PASSED = 1e6;

const ALL = keysOf(KEY);
const [LOCK, COUNTER, QUEUE, SHARERS] = ALL;
const ALONE = [LOCK, COUNTER, QUEUE];
const SHARED = [LOCK, QUEUE, SHARERS];

/** Runs steps on the server and on the model, and compares the two after each. */
export class SharingTrial {
  readonly #server: ScriptServer;
  readonly #model: SharingModel;

  /** `note` gets the name of everything that came about. */
  constructor(server: ScriptServer, note: (outcome: string) => void) {
    this.#server = server;
    this.#model = new SharingModel(note);
  }

  async run(choices: readonly Choice[]): Promise<void> {
    await this.#server.clear();
    for (const choice of choices) {
      const step = stepOf(choice, this.#model);
      if (!step) continue;
      await this.#do(step);
      if (!choice.isTwice || !isRepeatable(step)) continue;
      const holders = [...this.#model.holders];
      const line = this.#model.line.map((waiter) => ({ ...waiter }));
      await this.#do(step);
      expect(this.#model).toMatchObject({ holders, line });
    }
  }

  async #do(step: Step): Promise<void> {
    this.#model.said = [];
    const before = [...this.#model.holders];
    const expected = this.#expected(step);
    const reply = await this.#ask(step, before);
    expect(reply).toEqual(filled(expected, reply));
    await this.#compare();
  }

  #expected({ does, value }: Step): unknown {
    if (does === 'lapse') {
      this.#model.line.find((waiter) => waiter.value === value)!.isLapsed = true;
      return null;
    }
    return this.#model[does](value) ?? null;
  }

  async #ask({ does, value }: Step, holders: readonly string[]): Promise<unknown> {
    const isShared = permitsOf(value) !== undefined;
    switch (does) {
      case 'take':
        return isShared
          ? this.#run(shared.ACQUIRE_SHARED, SHARED, [value, TTL.acquire])
          : this.#alone(value, TTL.acquire);
      case 'wait':
        return ((await this.#run(WAIT, SHARED, [HEARTBEAT, value, TTL.claim])) as unknown[])[0];
      case 'leave':
        return this.#run(LEAVE, SHARED, [value, TTL.claim]);
      case 'release':
        return isShared ? this.#run(shared.RELEASE_SHARED, SHARED, [value]) : this.#alone(value);
      case 'extend':
        return isShared
          ? this.#run(shared.CONFIRM_SHARED, SHARED, [TTL.extend, 1, value])
          : this.#run(EXTEND, [LOCK], [TTL.extend, 1, value]);
      case 'renew':
        return this.#run(RENEW, ALONE, [value, TTL.renew]);
      case 'leaveFree':
        return this.#run(LEAVE_FREE, [LOCK, QUEUE], [value]);
      case 'handOn':
        return this.#run(HAND_ON, [LOCK, QUEUE], []);
      case 'downgrade':
        return this.#run(shared.DOWNGRADE, SHARED, [value, asReader(value)]);
      case 'lapse':
        return this.#lapse(value);
      default:
        return this.#expire(value, holders);
    }
  }

  async #lapse(value: string): Promise<null> {
    const line = await lineOf(this.#asking, KEY);
    const waiter = line.find((each) => each.value === value)!;
    await lapse(this.#asking, KEY, waiter);
    return null;
  }

  async #expire(value: string, holders: readonly string[]): Promise<null> {
    const { redis } = this.#server;
    if (holders.length > 1) await redis.zadd(SHARERS, 1, value);
    else await redis.del(LOCK, SHARERS);
    return null;
  }

  async #compare(): Promise<void> {
    const { redis } = this.#server;
    const { holders, line, said } = this.#model;
    const lock = await redis.get(LOCK);
    const marker = /^\*(\w+)$/.exec(lock ?? '')?.[1];
    if (marker) {
      expect((await redis.zrangebyscore(SHARERS, 2, '+inf')).toSorted()).toEqual(
        holders.toSorted(),
      );
      expect(permitsOf(holders[0])).toBe(marker === 'inf' ? Infinity : Number(marker));
      await this.#compareEnds();
    } else expect(lock === null ? [] : [lock]).toEqual(holders);
    expect(holders.length <= (permitsOf(holders[0]) ?? 1)).toBe(true);
    const ttl = await redis.pttl(LOCK);
    if (holders.length === 0) expect(ttl).toBe(-2);
    else expectOneOfTheTtls(ttl);
    expect((await lineOf(this.#asking, KEY)).map(asWaiter)).toEqual(line);
    expect((await redis.pttl(QUEUE)) > 0).toBe(line.length > 0);
    expect(await redis.pttl(COUNTER)).not.toBe(-1);
    const messages = await this.#server.messages();
    expect(messages.map(({ store, text }) => `${store} <- ${text}`)).toEqual(said);
  }

  /** Each sharer has the ttl that it was given; the lock and the set of the sharers end together, and no sooner than the last of them. */
  async #compareEnds(): Promise<void> {
    const { redis } = this.#server;
    const [seconds, micros] = await redis.time();
    const now = Number(seconds) * 1_000 + Number(micros) / 1_000;
    const scores = await redis.zrangebyscore(SHARERS, 2, '+inf', 'WITHSCORES');
    const ends = scores.filter((_, index) => index % 2 === 1).map(Number);
    for (const end of ends) expectOneOfTheTtls(end - now);
    const lockEnd = await redis.pexpiretime(LOCK);
    expect(lockEnd).toBeGreaterThanOrEqual(Math.max(...ends));
    expect(await redis.pexpiretime(SHARERS)).toBe(lockEnd);
  }

  readonly #asking: Ask = (...words) => this.#server.redis.call(...words);

  #alone(value: string, ttl?: number): Promise<unknown> {
    const { take, free } = this.#server.lockScripts;
    if (ttl === undefined) return this.#run(free, ALONE, [value]);
    return this.#run(take, ALONE, [value, ttl]);
  }

  #run(script: RedisScript, keys: readonly string[], args: readonly (string | number)[]) {
    return script.run(this.#server.redis, keys, args, (reply) => reply);
  }
}

function expectOneOfTheTtls(left: number): void {
  const found = Object.values(TTL).find((ttl) => left <= ttl + 1 && left > ttl - PASSED);
  expect({ left, isOneOfTheTtls: found !== undefined }).toEqual({ left, isOneOfTheTtls: true });
}

/** The expectation with the numbers of the server in it. */
function filled(expected: unknown, reply: unknown): unknown {
  if (expected === 'fence') return expect.any(Number);
  if (!Array.isArray(expected)) return expected;
  return expected.map((each, index) => {
    if (each === 'fence') return expect.any(Number);
    if (each !== 'ttl') return each as unknown;
    return Number((reply as unknown[])[index]) > 0 ? expect.any(Number) : 'a ttl';
  });
}

function asWaiter({ value, deadline }: InLine): unknown {
  return { value, isLapsed: deadline < Date.now() };
}
