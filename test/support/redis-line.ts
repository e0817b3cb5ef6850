import { NUMBERS, SHARED_DEADLINE } from '../../lib/stores/redis/lua/line-parts.js';

/** Puts one command to a server of Redis. */
export type Ask = (name: string, ...args: (string | number)[]) => Promise<unknown>;

/** A waiter for a lock, as the server has it. */
export interface InLine {
  readonly value: string;
  /** As the server calls it. */
  readonly entry: string;
  /** In milliseconds by the server's clock. */
  readonly deadline: number;
}

/** How the line for a lock is called on the server. */
export function lineKey(lock: string): string {
  return `{${lock}}:line`;
}

/** First to last. `reply`: all members with their scores. */
export function asLine(reply: unknown): InLine[] {
  const list = (reply as readonly unknown[]).flat() as string[]; // newer protocols have pairs
  const members = list.filter((_each, index) => index % 2 === 0);
  const scores = new Map(members.map((member, index) => [member, Number(list[2 * index + 1])]));
  const entries = members.filter((member) => scores.get(member)! < NUMBERS);
  expect(members.toSorted()).toEqual(entries.flatMap((each) => [each, `@${each}`]).toSorted());
  return entries.map((entry) => {
    const value = /^\d+ (.*)$/s.exec(entry)![1]!;
    return { value, entry, deadline: scores.get(`@${entry}`)! % SHARED_DEADLINE };
  });
}

/** First to last. */
export async function lineOf(ask: Ask, lock: string): Promise<InLine[]> {
  return asLine(await ask('ZRANGE', lineKey(lock), 0, -1, 'WITHSCORES'));
}

/** How many stand in line. */
export async function lineLength(ask: Ask, lock: string): Promise<number> {
  return Number(await ask('ZCOUNT', lineKey(lock), 0, NUMBERS));
}

/** `deadline`: in milliseconds by the server's clock. */
export async function setDeadline(
  ask: Ask,
  lock: string,
  { entry, value }: InLine,
  deadline: number,
) {
  const isShared = /^~?[\w-]+\*/.test(value);
  await ask('ZADD', lineKey(lock), 'XX', deadline + (isShared ? SHARED_DEADLINE : 0), `@${entry}`);
}

/** The server has not heard of it for too long. */
export async function lapse(ask: Ask, lock: string, waiter: InLine): Promise<void> {
  await setDeadline(ask, lock, waiter, NUMBERS + 1);
}
