import { LuaError, LuaTable, errorReply } from '../lua/lua-values.js';
import type { CommandContext } from './commands.js';

type Words = readonly string[];
type SortedSet = Map<string, number>;

export function zadd(context: CommandContext, [key, ...pairs]: Words): number {
  const found = setAt(context, key!);
  const set = found ?? new Map<string, number>();
  let added = 0;
  for (let index = 0; index < pairs.length; index += 2) {
    const member = pairs[index + 1]!;
    if (!set.has(member)) added++;
    set.set(member, Number(pairs[index]));
  }
  if (!found) context.keys.set(key!, set);
  return added;
}

export function zrem(context: CommandContext, [key, ...members]: Words): number {
  const set = setAt(context, key!);
  const removed = members.filter((member) => set?.delete(member)).length;
  if (set?.size === 0) context.keys.delete(key!);
  return removed;
}

export function zrange(context: CommandContext, [key, from, to, withScores]: Words): LuaTable {
  const all = inOrder(setAt(context, key!));
  const place = (index: number) => (index < 0 ? all.length + index : index);
  const some = all.slice(Math.max(0, place(Number(from))), place(Number(to)) + 1);
  return listed(some, withScores !== undefined);
}

export function zrangebyscore(
  context: CommandContext,
  [key, from, to, ...options]: Words,
): LuaTable {
  const some = inOrder(setAt(context, key!)).filter(([, score]) => isWithin(score, from!, to!));
  const limit = options.findIndex((option) => option.toUpperCase() === 'LIMIT');
  const [first, count] = limit < 0 ? [0, Infinity] : [Number(options[limit + 1]), Number(options[limit + 2])]; // prettier-ignore
  return listed(some.slice(first, first + count), options.some((option) => option.toUpperCase() === 'WITHSCORES')); // prettier-ignore
}

export function zrank(context: CommandContext, [key, member]: Words): number | false {
  const rank = inOrder(setAt(context, key!)).findIndex(([each]) => each === member);
  return rank < 0 ? false : rank;
}

export function zcard(context: CommandContext, [key]: Words): number {
  return setAt(context, key!)?.size ?? 0;
}

export function zcount(context: CommandContext, [key, from, to]: Words): number {
  return inOrder(setAt(context, key!)).filter(([, score]) => isWithin(score, from!, to!)).length;
}

export function zscore(context: CommandContext, [key, member]: Words): string | false {
  const score = setAt(context, key!)?.get(member!);
  return score === undefined ? false : String(score);
}

export function zremrangebyscore(context: CommandContext, [key, from, to]: Words): number {
  const gone = inOrder(setAt(context, key!)).filter(([, score]) => isWithin(score, from!, to!));
  return zrem(context, [key!, ...gone.map(([member]) => member)]);
}

function setAt({ keys }: CommandContext, key: string): SortedSet | undefined {
  const value = keys.get(key)?.value;
  if (typeof value !== 'string') return value;
  throw new LuaError(errorReply('WRONGTYPE Operation against a key holding the wrong kind of value')); // prettier-ignore
}

function inOrder(set: SortedSet | undefined): [string, number][] {
  const isLess = (one: string, other: string) => (one < other ? -1 : 1);
  return [...(set ?? [])].toSorted((a, b) => a[1] - b[1] || isLess(a[0], b[0]));
}

function listed(some: readonly [string, number][], withScores: boolean): LuaTable {
  return new LuaTable(some.flatMap(([member, score]) => (withScores ? [member, String(score)] : [member]))); // prettier-ignore
}

function isWithin(score: number, from: string, to: string): boolean {
  const isAfter = from.startsWith('(') ? score > bound(from.slice(1)) : score >= bound(from);
  return isAfter && (to.startsWith('(') ? score < bound(to.slice(1)) : score <= bound(to));
}

function bound(text: string): number {
  if (text === '-inf') return -Infinity;
  return text === '+inf' || text === 'inf' ? Infinity : Number(text);
}
