import { LuaError, LuaTable, errorReply } from '../lua/lua-values.js';
import type { Keyspace } from './keyspace.js';
import * as sets from './sorted-sets.js';

/** A server on which commands run. */
export interface CommandContext {
  readonly keys: Keyspace;
  /** Milliseconds since 1970, with a fraction. */
  readonly now: () => number;
  /** The number of receivers. */
  publish(channel: string, text: string): number;
}

type Words = readonly string[];
type Command = (context: CommandContext, words: Words) => unknown;

const OK = 'OK';

/** `false`: nil. The replies are those that a script sees. */
export const COMMANDS: Readonly<Record<string, Command>> = {
  get: ({ keys }, [key]) => textAt(keys, key!) ?? false,
  set,
  del: ({ keys }, words) => words.filter((key) => keys.delete(key)).length,
  exists: ({ keys }, words) => words.filter((key) => keys.get(key)).length,
  pexpire: (context, [key, ms]) => expire(context, key!, context.now() + Number(ms)),
  pexpireat: (context, [key, at]) => expire(context, key!, Number(at)),
  pttl({ keys, now }, [key]) {
    const found = keys.get(key!);
    if (!found) return -2;
    return found.expiresAt === Infinity ? -1 : Math.round(found.expiresAt - now());
  },
  publish: (context, [channel, text]) => context.publish(channel!, text!),
  time({ now }) {
    const micros = Math.floor(now() * 1_000);
    return new LuaTable([String(Math.floor(micros / 1e6)), String(micros % 1e6)]);
  },
  ...sets,
};

export function run(context: CommandContext, [name, ...words]: Words): unknown {
  const command = COMMANDS[name!.toLowerCase()];
  if (!command) throw new LuaError(errorReply(`ERR unknown command '${name}'`));
  return command(context, words);
}

function textAt(keys: Keyspace, key: string): string | undefined {
  const value = keys.get(key)?.value;
  if (value === undefined || typeof value === 'string') return value;
  throw new LuaError(errorReply('WRONGTYPE Operation against a key holding the wrong kind of value')); // prettier-ignore
}

function set({ keys, now }: CommandContext, [key, value, ...options]: Words): unknown {
  const names = options.map((option) => option.toUpperCase());
  const has = (name: string) => names.includes(name);
  const after = (name: string) => Number(options[names.indexOf(name) + 1]);
  if (has('NX') && keys.get(key!)) return false;
  const before = has('GET') ? (textAt(keys, key!) ?? false) : undefined;
  let expiresAt = Infinity;
  if (has('PX')) expiresAt = now() + after('PX');
  if (has('EX')) expiresAt = now() + after('EX') * 1_000;
  if (has('PXAT')) expiresAt = after('PXAT');
  keys.set(key!, value!, expiresAt);
  if (before !== undefined) return before;
  const reply = new LuaTable();
  reply.fields.set('ok', OK);
  return reply;
}

function expire({ keys, now }: CommandContext, key: string, at: number): number {
  const found = keys.get(key);
  if (!found) return 0;
  if (at <= now()) keys.delete(key);
  else keys.set(key, found.value, at);
  return 1;
}
