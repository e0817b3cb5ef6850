import * as replies from '../../../../lib/stores/redis/lua/replies.js';
import { asStanding } from '../../../../lib/stores/redis/queue/queue-standing.js';

const KEYS = ['a', 'b', 'c'];
const UNKNOWN = /not understood/;

/** What a reader makes of a reply; that it refuses it. */
function readBy(read: (reply: unknown) => unknown, reply: unknown): unknown {
  try {
    return read(reply);
  } catch (error) {
    expect((error as Error).message).toMatch(UNKNOWN);
    return 'refused';
  }
}

it.each([
  [1, true, 1, 1n, 'refused'],
  ['1', true, 1, 1n, '1'],
  [0, false, 0, 0n, 'refused'],
  ['0', false, 0, 0n, '0'],
  [17, 'refused', 17, 17n, 'refused'],
  ['17', 'refused', 17, 17n, '17'],
  [-1, 'refused', -1, 'refused', 'refused'],
  ['-1', 'refused', -1, 'refused', '-1'],
  [1.5, 'refused', 'refused', 'refused', 'refused'],
  ['1.5', 'refused', 'refused', 'refused', '1.5'],
  ['', 'refused', 'refused', 'refused', ''],
  ['x1', 'refused', 'refused', 'refused', 'x1'],
  ['1x', 'refused', 'refused', 'refused', '1x'],
  [null, 'refused', 'refused', 'refused', 'refused'],
  [[1], 'refused', 'refused', 'refused', 'refused'],
])('The reply %p is one: %p, a number: %p, a token: %p, a text: %p', (reply, ...expected) => {
  const readers = [replies.isOne, replies.asNumber, replies.asFencingToken, replies.asText];
  expect(readers.map((read) => readBy(read, reply))).toEqual(expected);
});

it('A list has as many items as were asked for', () => {
  expect(replies.asList([1, 2], 2)).toEqual([1, 2]);
  for (const reply of [[1], [1, 2, 3], 'ab', null])
    expect(() => replies.asList(reply, 2)).toThrow(UNKNOWN);
});

it('A renewal is a token and whether others wait, or nothing', () => {
  expect(replies.asRenewal([17, 1])).toEqual({ fence: 17n, isAwaited: true });
  expect(replies.asRenewal(['17', '0'])).toEqual({ fence: 17n, isAwaited: false });
  expect(replies.asRenewal(null)).toBeUndefined();
});

it('The time is in milliseconds', () => {
  expect(replies.asTime(['1700000000', '250500'])).toBe(1_700_000_000_250.5);
});

it.each([
  ['WRONGTYPE no lock', true],
  ['', false],
  ['17', false],
  ['-1', false],
  [17, false],
  [null, false],
])('%p is the text of an error: %p', (answer, expected) => {
  expect(replies.isErrorText(answer)).toBe(expected);
});

it.each([
  [null, true, []],
  [-1, true, ['a']],
  ['-3', true, ['c']],
  [-4, false, []],
  [0, false, []],
  [17, false, []],
  ['x', false, []],
  [[-1], false, []],
])('The reply %p refuses several keys: %p, and names %p', (reply, expected, named) => {
  const refused: string[] = [];
  expect(replies.isRefusal(KEYS, reply, (key) => refused.push(key))).toBe(expected);
  expect(refused).toEqual(named);
  expect(replies.isRefusal(['a'], reply, undefined)).toBe(reply === null);
});

it('A reply to a MULTI of the application tells how to avoid that, and no other one does', () => {
  const text = (reply: unknown) => replies.unknownReply('1 or 0', reply).message;
  expect(text('QUEUED')).toContain('give the locks a client of their own');
  expect(text('OK')).not.toContain('client of their own');
});

it.each([
  [[1], { state: 'handed off' }],
  [['1'], { state: 'handed off' }],
  [[0, 5_000, 2], { state: 'waits', ttl: 5_000, inFront: 2 }],
  [['0', '-1', '0'], { state: 'waits', ttl: -1, inFront: 0 }],
  [[2, '3'], { state: 'refused', inUse: 3 }],
  [['2', 'inf'], { state: 'refused', inUse: Infinity }],
  [[2, '0'], 'refused'],
  [[2], 'refused'],
  [[1, 1], 'refused'],
  [[0, 5_000], 'refused'],
  [[3, 1], 'refused'],
  [[], 'refused'],
  [null, 'refused'],
  [{ 0: 1 }, 'refused'],
  ['1', 'refused'],
])('The answer %j to a waiter is %j', (answer, expected) => {
  expect(readBy(asStanding, answer)).toEqual(expected);
});

it('The text of an error in the place of an answer to a waiter is that error', () => {
  expect(() => asStanding('WRONGTYPE no lock')).toThrow('WRONGTYPE no lock');
});
