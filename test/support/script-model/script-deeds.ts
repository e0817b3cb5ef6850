import { batchArgs, loneArgs } from '../../../lib/stores/redis/lua/lock-script.js';
import type { Wanted } from '../../../lib/stores/redis/lua/lock-script.js';
import * as queueScripts from '../../../lib/stores/redis/lua/queue-scripts.js';
import type { RedisScript } from '../../../lib/redis-client/redis-script.js';
import { INSPECT } from '../../../lib/stores/redis/inspect/inspect-script.js';
import * as scripts from '../../../lib/stores/redis/lua/lease-scripts.js';
import { type Ask, lapse, lineOf } from '../redis-line.js';
import { until } from '../until.js';
import { TTL } from './lock-model.js';
import { FOREIGNER, type Leased, type ScriptModel } from './script-model.js';
import { type ScriptServer, keysOf } from './script-server.js';
import type { Deed, Step } from './script-steps.js';

/** Milliseconds that a place in line is kept: longer than any test. */
const HEARTBEAT = 20e6;

interface Outcome {
  readonly expected: unknown;
  readonly reply: unknown;
}

/** Does a step on the server and on the model. */
export class ScriptDeeds {
  readonly #server: ScriptServer;
  readonly #model: ScriptModel;

  constructor(server: ScriptServer, model: ScriptModel) {
    this.#server = server;
    this.#model = model;
  }

  /** `floor` is a token larger than all before. */
  async do(step: Step, floor: number): Promise<Outcome> {
    const { does, parts, tokens } = step;
    if (parts.length === 0) return { expected: [], reply: [] };
    const replies: Partial<Record<Deed, () => Promise<unknown>>> = {
      acquire: () => this.#takeOrFree(parts.map((part) => wanted(part))),
      'acquire with a floor': () =>
        this.#takeOrFree(parts.map((part) => wanted(part, BigInt(floor)))),
      release: () => this.#takeOrFree(parts),
      'release and acquire': () =>
        this.#takeOrFree(parts.map((part, index) => (index % 2 ? wanted(part) : part))),
      wait: () => {
        const waiters = parts.flatMap((each) => [each.value, TTL.claim]);
        const all = parts.flatMap((each) => inLine(each.keys[0]!));
        return this.#run(queueScripts.WAIT, all, [HEARTBEAT, ...waiters]);
      },
      leave: () => this.#run(queueScripts.LEAVE, inLine(key), [value, TTL.claim]),
      'leave free': () => this.#run(scripts.LEAVE_FREE, lockAndLine(key), [value]),
      'hand on': () => this.#run(scripts.HAND_ON, lockAndLine(key), []),
      renew: () => this.#run(scripts.RENEW, lined([key]), [value, TTL.renew]),
      'renew with tokens': () =>
        this.#run(scripts.RENEW, lined([key]), [value, TTL.renew, tokens.from, tokens.to]),
      raise: () => this.#run(scripts.RAISE, lined(keys), [value, tokens.from, tokens.to]),
      extend: () => {
        const all = parts.flatMap((each) => each.keys);
        const leases = parts.flatMap((each) => [each.keys.length, each.value]);
        return this.#run(scripts.EXTEND, all, [TTL.extend, ...leases]).then(withErrors);
      },
      inspect: () => this.#run(INSPECT, keysOf(key), [0, 0]).then(withoutWaiters),
    };
    const [{ keys, value }] = parts as [Step['parts'][number]];
    const [key] = keys as [string];
    const reply = await (replies[does]?.() ?? this.#disturb(does, key, value));
    return { expected: this.#expected(step), reply };
  }

  #expected({ does, parts, tokens }: Step): unknown {
    const [{ keys, value }] = parts as [Step['parts'][number]];
    const lock = this.#model.locks.get(keys[0]!);
    switch (does) {
      case 'acquire':
      case 'acquire with a floor':
        return parts.map((part) => this.#model.acquire(part));
      case 'release':
        return parts.map((part) => this.#model.release(part));
      case 'release and acquire':
        return parts.map((part, index) =>
          index % 2 ? this.#model.acquire(part) : this.#model.release(part),
        );
      case 'wait':
        return this.#model.wait(parts);
      case 'leave':
        return lock!.leave(value);
      case 'leave free':
        return lock!.leaveFree(value);
      case 'hand on':
        return lock!.handOn();
      case 'renew':
        return lock!.renew(value);
      case 'renew with tokens':
        return lock!.renewWithTokens(value, tokens);
      case 'raise':
        return this.#model.raise(parts[0]!, tokens);
      case 'extend':
        return this.#model.extend(parts);
      case 'inspect':
        return this.#model.inspect(keys[0]!);
      default:
        return null;
    }
  }

  /** Changes a lock from outside. */
  async #disturb(does: Deed, key: string, value: string): Promise<null> {
    const { redis } = this.#server;
    const lock = this.#model.of(key);
    const [, counter] = keysOf(key);
    if (does === 'expire') {
      await redis.pexpire(key, 1);
      await until(async () => (await redis.exists(key)) === 0, { every: 1 });
      lock.holder = undefined;
    } else if (does === 'delete') {
      await redis.del(key);
      lock.holder = undefined;
    } else if (does === 'lose counter') {
      await redis.del(counter);
      lock.hasCounter = false;
    } else if (does === 'foreigner') {
      await redis.set(key, FOREIGNER, 'PX', TTL.foreign, 'NX');
      lock.holder ??= { value: FOREIGNER, ttl: TTL.foreign };
    } else {
      const index = lock.line.findIndex((waiter) => waiter.value === value);
      if (index < 0) return null;
      const ask: Ask = (...words) => redis.call(...words);
      await lapse(ask, key, (await lineOf(ask, key))[index]!);
      lock.line[index]!.isLapsed = true;
    }
    return null;
  }

  async #takeOrFree(calls: readonly LockCall[]): Promise<unknown> {
    const { takeAndFree } = this.#server.lockScripts;
    const [first] = calls;
    if (calls.length === 1) return withErrors([await this.#alone(first!).catch(messageOf)]);
    const keys = calls.flatMap((call) => lined(call.keys));
    const args = calls.flatMap((call) => batchArgs(call.value, call.keys.length, call));
    const reply = await this.#run(takeAndFree, keys, args).catch(messageOf);
    if (typeof reply === 'string') return withErrors(calls.map(() => reply)); // all of them failed
    return withErrors(reply);
  }

  #alone(call: LockCall): Promise<unknown> {
    const { take, free } = this.#server.lockScripts;
    const script = call.ttl === undefined ? free : take;
    return this.#run(script, lined(call.keys), loneArgs(call.value, call));
  }

  #run(script: RedisScript, keys: readonly string[], args: readonly (string | number)[]) {
    return script.run(this.#server.redis, keys, args, (reply) => reply);
  }
}

interface LockCall extends Leased, Wanted {}

function wanted(leased: Leased, floor?: bigint): LockCall {
  return { ...leased, ttl: TTL.acquire, last: floor };
}

/** The locks, then their counters, then their queues. */
function lined(keys: readonly string[]): string[] {
  return [0, 1, 2].flatMap((index) => keys.map((key) => keysOf(key)[index]!));
}

function lockAndLine(key: string): string[] {
  const [lock, , queue] = keysOf(key);
  return [lock, queue];
}

/** The lock, its queue, its sharers. */
function inLine(key: string): string[] {
  const [lock, , queue, sharers] = keysOf(key);
  return [lock, queue, sharers];
}

/** Of the only lock. */
function withoutWaiters(reply: unknown): unknown {
  const [, answer] = reply as [number, unknown[] | null];
  return answer && answer.slice(0, 3);
}

function messageOf({ message }: Error): string {
  return message;
}

function withErrors(reply: unknown): unknown {
  return (reply as unknown[]).map((each) => {
    return typeof each === 'string' && each.startsWith('WRONGTYPE') ? 'an error' : each;
  });
}
