import type { Statement } from './lua-syntax.js';
import { LIBRARY } from './lua-library.js';
import { LuaTable } from './lua-values.js';
import * as values from './lua-values.js';
import { blockOf } from './lua-statements.js';

/** The functions that a script calls. */
export interface RedisCalls {
  call(...words: unknown[]): unknown;
  pcall(...words: unknown[]): unknown;
  error_reply(text: string): unknown;
}

const luaparse = require('luaparse') as {
  parse(source: string, options: object): { readonly body: readonly Statement[] };
};

type Compiled = (redis: RedisCalls, keys: readonly string[], args: readonly string[]) => unknown;

type Body = (
  lua: typeof values,
  library: typeof LIBRARY,
  redis: RedisCalls,
  KEYS: LuaTable,
  ARGV: LuaTable,
) => unknown;

/** Makes a function of a script: as much of Lua as our scripts use, and an error for the rest. */
export function compileLua(source: string): Compiled {
  const chunk = luaparse.parse(source, { luaVersion: '5.1', comments: false });
  // eslint-disable-next-line no-implied-eval -- the scripts are our own
  const body = new Function('$', '$lib', '$redis', '$KEYS', '$ARGV', blockOf(chunk.body)) as Body;
  return (redis, keys, args) =>
    values.one(body(values, LIBRARY, redis, new LuaTable([...keys]), new LuaTable([...args])));
}
