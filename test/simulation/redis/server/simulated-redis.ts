import { createHash } from 'node:crypto';
import { compileLua } from '../lua/compile-lua.js';
import { LuaError, LuaTable, errorReply } from '../lua/lua-values.js';
import type { Machine } from '../../world/machine.js';
import { type CommandContext, run } from './commands.js';
import { Keyspace } from './keyspace.js';

type Script = ReturnType<typeof compileLua>;

const scripts = new Map<string, Script>();

/** The error of a command. */
export class ReplyError extends Error {
  override readonly name = 'ReplyError';
  command: { readonly name: string } | undefined;
}

/** The subscribers, told of each message. */
export interface Subscriber {
  readonly channels: Set<string>;
  message(channel: string, text: string): void;
}

/** One server: its keys, its subscribers, the scripts that it has been sent. */
export class SimulatedRedis implements CommandContext {
  readonly subscribers = new Set<Subscriber>();
  readonly machine: Machine;
  runId: string;
  readonly keys: Keyspace;
  readonly #known = new Map<string, Script>();
  /** What the replica has. */
  #replica: ReturnType<Keyspace['copy']> = new Map();
  #starts = 0;
  #startedAt = -100_000_000;

  readonly #script: (source: string) => string;

  /** `script` changes what it is sent. */
  constructor(machine: Machine, runId: string, script = (source: string) => source) {
    this.#script = script;
    this.machine = machine;
    this.runId = runId;
    this.keys = new Keyspace(this.now);
  }

  readonly now = (): number => this.machine.time();

  publish(channel: string, text: string): number {
    const heard = [...this.subscribers].filter(({ channels }) => channels.has(channel));
    for (const subscriber of heard) subscriber.message(channel, text);
    return heard.length;
  }

  /** The reply to a client. Throws `ReplyError`. */
  command(name: string, ...args: readonly (string | number)[]): unknown {
    const words = args.map(String);
    if (name === 'eval') return this.#run(this.#learn(words[0]!), words);
    if (name === 'evalsha') return this.#run(words[0]!, words);
    if (name === 'wait') return this.#replicate();
    if (name === 'info') return this.#info();
    return reply(run(this, [name, ...words]));
  }

  /** Comes back empty. */
  restart(): void {
    this.#begin(new Map());
    this.#startedAt = this.machine.monotonic();
  }

  /** The replica takes over. */
  failOver(): void {
    this.#begin(this.#replica);
    this.#replicate();
  }

  #begin(keys: ReturnType<Keyspace['copy']>): void {
    this.keys.replace(keys);
    this.#known.clear();
    this.runId = `${this.runId[0]}${++this.#starts}`;
  }

  /** The replica has all that was written so far. */
  #replicate(): number {
    this.#replica = this.keys.copy();
    return 1;
  }

  #info(): string {
    const upFor = Math.floor((this.machine.monotonic() - this.#startedAt) / 1_000);
    return `run_id:${this.runId}\r\nuptime_in_seconds:${upFor}\r\n`;
  }

  #learn(source: string): string {
    const hash = createHash('sha1').update(source).digest('hex');
    const own = this.#script(source);
    let compiled = scripts.get(own);
    if (!compiled) scripts.set(own, (compiled = compileLua(own)));
    this.#known.set(hash, compiled);
    return hash;
  }

  #run(hash: string, [, count, ...rest]: readonly string[]): unknown {
    const script = this.#known.get(hash);
    if (!script) throw new ReplyError('NOSCRIPT No matching script. Please use EVAL.');
    const keys = rest.slice(0, Number(count));
    try {
      return reply(script(this.#calls, keys, rest.slice(keys.length)));
    } catch (error) {
      if (error instanceof LuaError) throw new ReplyError(error.message);
      throw error;
    }
  }

  readonly #calls = {
    call: (...words: unknown[]) => run(this, words.map(String)),
    pcall: (...words: unknown[]) => {
      try {
        return run(this, words.map(String));
      } catch (error) {
        if (error instanceof LuaError) return error.value;
        throw error;
      }
    },
    error_reply: (text: string) => errorReply(text),
  };
}

/** Of a value of Lua. */
function reply(value: unknown): unknown {
  if (value === undefined || value === false) return null;
  if (value === true) return 1;
  if (typeof value === 'number') return Math.trunc(value);
  if (!(value instanceof LuaTable)) return value;
  const error = value.fields.get('err');
  if (error !== undefined) throw new ReplyError(error as string);
  if (value.fields.has('ok')) return value.fields.get('ok');
  const end = value.list.indexOf(undefined);
  return value.list.slice(0, end < 0 ? undefined : end).map(nested);
}

function nested(value: unknown): unknown {
  try {
    return reply(value);
  } catch (error) {
    return error;
  }
}
