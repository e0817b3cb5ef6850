/** A table: its list, and its named fields. */
export class LuaTable {
  readonly list: unknown[];
  readonly fields = new Map<unknown, unknown>();

  constructor(list: unknown[] = []) {
    this.list = list;
  }

  get(key: unknown): unknown {
    return typeof key === 'number' ? this.list[key - 1] : this.fields.get(key);
  }

  set(key: unknown, value: unknown): void {
    if (typeof key === 'number') this.list[key - 1] = value;
    else this.fields.set(key, value);
  }
}

/** Several results of one call. */
export class Several {
  readonly values: unknown[];

  constructor(values: unknown[]) {
    this.values = values;
  }
}

/** The exception of `error` and `redis.call`. */
export class LuaError extends Error {
  readonly value: unknown;

  constructor(value: unknown) {
    super(value instanceof LuaTable ? String(value.fields.get('err')) : String(value));
    this.value = value;
  }
}

export function errorReply(reason: string): LuaTable {
  const table = new LuaTable();
  table.fields.set('err', reason);
  return table;
}

/** The first result. */
export function one(result: unknown): unknown {
  return result instanceof Several ? result.values[0] : result;
}

export function all(result: unknown): unknown[] {
  return result instanceof Several ? result.values : [result];
}

/** Results of a call, from the first on. */
export function nth(result: unknown, place: number): unknown {
  if (result instanceof Several) return result.values[place];
  return place === 0 ? result : undefined;
}

export function several(...values: unknown[]): unknown {
  return values.length === 1 ? values[0] : new Several(values);
}

export function truthy(value: unknown): boolean {
  return value !== undefined && value !== false;
}

export function index(table: unknown, key: unknown): unknown {
  if (table instanceof LuaTable) return table.get(key);
  throw new LuaError(`attempt to index ${String(table)} for ${String(key)}`);
}

export function assign(table: unknown, key: unknown, value: unknown): void {
  if (!(table instanceof LuaTable)) throw new LuaError(`attempt to index ${String(table)}`);
  table.set(key, value);
}

export function length(value: unknown): number {
  if (value instanceof LuaTable) return value.list.length;
  if (typeof value === 'string') return value.length;
  throw new LuaError(`attempt to get the length of ${String(value)}`);
}

/** For arithmetic: strings of numbers are numbers. */
export function number(value: unknown): number {
  if (typeof value === 'number') return value;
  const parsed = toNumber(value);
  if (parsed === undefined) throw new LuaError(`attempt to calculate with ${String(value)}`);
  return parsed;
}

export function toNumber(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string' || value.trim() === '') return undefined;
  const parsed = Number(value);
  return Number.isNaN(parsed) ? undefined : parsed;
}

/** As `%.14g` writes numbers. */
export function text(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'number') throw new LuaError(`attempt to join ${String(value)}`);
  if (value === Infinity) return 'inf';
  const rounded = Number(value.toPrecision(14));
  if (Math.abs(rounded) < 1e14) return String(rounded);
  return rounded.toExponential().replace(/e\+(\d)$/, 'e+0$1');
}

export function compare(left: unknown, right: unknown): number {
  if (typeof left === 'number' && typeof right === 'number') return left - right;
  if (typeof left !== 'string' || typeof right !== 'string')
    throw new LuaError(`attempt to compare ${String(left)} with ${String(right)}`);
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

export function modulo(left: unknown, right: unknown): number {
  const divisor = number(right);
  const rest = number(left) % divisor;
  return rest !== 0 && rest < 0 !== divisor < 0 ? rest + divisor : rest;
}

export function withFields(table: LuaTable, fields: readonly [string, unknown][]): LuaTable {
  for (const [name, value] of fields) table.fields.set(name, value);
  return table;
}
