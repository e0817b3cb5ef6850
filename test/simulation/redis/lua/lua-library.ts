import { LuaError, LuaTable, Several, all, number, several, text, toNumber } from './lua-values.js';

type Callable = (...args: unknown[]) => unknown;

/** Lua's classes of characters, as far as they are used. */
const CLASSES: Readonly<Record<string, string>> = { d: '0-9', w: 'A-Za-z0-9', s: '\\s', S: '\\S' };
const patterns = new Map<string, RegExp>();

/** A regular expression for a pattern of Lua without `-` as a repetition. */
function regExpOf(pattern: string): RegExp {
  let known = patterns.get(pattern);
  if (known) return known;
  let isInSet = false;
  const source = pattern.replace(/%(.)|\[|\]|[{}|\\]/g, (found, escaped?: string) => {
    if (found === '[') isInSet = true;
    if (found === ']') isInSet = false;
    if (escaped === undefined) return /[{}|\\]/.test(found) ? `\\${found}` : found;
    const set = CLASSES[escaped];
    if (!set) return /\w/.test(escaped) ? escaped : `\\${escaped}`;
    return isInSet || set.startsWith('\\') ? set : `[${set}]`;
  });
  known = new RegExp(source, 's');
  patterns.set(pattern, known);
  return known;
}

function match(value: unknown, pattern: unknown): unknown {
  const found = regExpOf(pattern as string).exec(text(value));
  if (!found) return undefined;
  return found.length === 1 ? found[0] : several(...found.slice(1));
}

function find(value: unknown, wanted: unknown, from: unknown, isPlain: unknown): unknown {
  if (isPlain !== true) throw new LuaError('find is for plain text only');
  const at = text(value).indexOf(text(wanted), number(from) - 1);
  return at < 0 ? undefined : at + 1;
}

function sub(value: unknown, from: unknown, to: unknown = -1): unknown {
  const whole = text(value);
  const place = (index: number) => (index < 0 ? whole.length + index : index - 1);
  return whole.slice(Math.max(0, place(number(from))), place(number(to)) + 1);
}

function format(pattern: unknown, ...values: unknown[]): string {
  let next = 0;
  return (pattern as string).replace(
    /%(?:0(\d))?(d|\.0f|s)/g,
    (_, width: string | undefined, kind: string) => {
      const value = values[next++];
      if (kind === 's') return text(value);
      const digits = BigInt(kind === 'd' ? Math.trunc(number(value)) : Math.round(number(value)));
      return String(digits).padStart(Number(width ?? 0), '0');
    },
  );
}

/** As on Redis, it gives the text of an error, also of one that is a table. */
function pcall(called: unknown, ...args: unknown[]): unknown {
  try {
    return new Several([true, ...all((called as Callable)(...args))]);
  } catch (error) {
    if (error instanceof LuaError) return new Several([false, error.message]);
    throw error;
  }
}

function type(value: unknown): string {
  if (value === undefined) return 'nil';
  if (value instanceof LuaTable) return 'table';
  return typeof value;
}

/** The globals that scripts use. Each gives one result, if it is not in `GIVE_SEVERAL`. */
export const LIBRARY: Readonly<Record<string, Callable | Readonly<Record<string, unknown>>>> = {
  string: { match, find, sub, format },
  math: {
    huge: Infinity,
    floor: (value: unknown) => Math.floor(number(value)),
    max: (...values: unknown[]) => Math.max(...values.map(number)),
    min: (...values: unknown[]) => Math.min(...values.map(number)),
  },
  tonumber: (value: unknown) => toNumber(value),
  unpack: (table: unknown) => new Several((table as LuaTable).list),
  pcall,
  type,
};

export const GIVE_SEVERAL = ['match', 'unpack', 'pcall'];
