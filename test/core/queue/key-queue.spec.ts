import { LocalQueues } from '../../../lib/core/queue/local-queues.js';
import { LocalTicket } from '../../../lib/core/queue/local-ticket.js';
import { KeyQueue } from '../../../lib/core/queue/key-queue.js';
import type { QueueEntry } from '../../../lib/core/queue/key-queue.js';

class Entry implements QueueEntry<Entry> {
  before: Entry | undefined;
  behind: Entry | undefined;
  readonly keys = ['a'];
  constructor(readonly permits: number | undefined) {}
  arrive = () => true;
}

/** A key with sharers at its front, and waiters behind. */
function queue(permits: number | undefined, count: number, ...waiting: (number | undefined)[]) {
  const made = new KeyQueue<Entry>();
  for (let index = 0; index < count; index++) made.seat(permits);
  const entries = waiting.map((each) => new Entry(each));
  for (const entry of entries) made.add(entry);
  return { made, entries };
}

describe('The front of a key has room', () => {
  it.each([
    ['for one more with the same permits', 3, 2, 3, true],
    ['for a reader beside readers', Infinity, 99, Infinity, true],
    ['not for more than there are permits', 3, 3, 3, false],
    ['not for more than 100', Infinity, 100, Infinity, false],
    ['not for other permits', 3, 1, 2, false],
    ['not for an exclusive caller beside sharers', 3, 1, undefined, false],
    ['not for a second exclusive caller', undefined, 1, undefined, false],
    ['not for a sharer beside an exclusive caller', undefined, 1, 3, false],
  ])('%s', (_, permits, count, asked, expected) => {
    expect(queue(permits, count).made.hasRoomFor(asked)).toBe(expected);
  });
});

describe('The front of a key is crowded', () => {
  it.each([
    ['by 100 of more permits', 200, 100, 200, [], true],
    ['by 100 readers, also where readers wait', Infinity, 100, Infinity, [Infinity], true],
    ['not by fewer', 200, 99, 200, [], false],
    ['not where all permits are taken', 100, 100, 100, [], false],
    ['not for other permits', 200, 100, 300, [], false],
    ['not for an exclusive caller', 200, 100, undefined, [], false],
    ['not where others wait for something else', Infinity, 100, Infinity, [Infinity, undefined], false], // prettier-ignore
  ])('%s', (_, permits, count, asked, waiting, expected) => {
    expect(queue(permits, count, ...waiting).made.isCrowdedBy(asked)).toBe(expected);
  });
});

describe('The permits in use of a key', () => {
  it('are those at its front', () => {
    expect(queue(3, 1).made.permitsInUse).toBe(3);
    expect(queue(undefined, 1).made.permitsInUse).toBeUndefined();
  });

  it('are those of the last sharer that waits, until none waits', () => {
    const { made, entries } = queue(undefined, 1, 3, undefined, 2);
    expect(made.permitsInUse).toBe(2);
    made.remove(entries[1]!);
    made.remove(entries[2]!);
    expect(made.permitsInUse).toBe(2);
    made.remove(entries[0]!);
    expect(made.permitsInUse).toBeUndefined();
  });
});

it('A caller that keeps the front of one of its keys leaves those of the others only', () => {
  const queues = new LocalQueues<LocalTicket>();
  const keys = ['a', 'b'];
  queues.enter(keys);
  const caller = { keys, ttl: 1_000, permits: undefined, autoExtend: true };
  const ticket = new LocalTicket(queues, caller, true);
  ticket.keep('b');
  expect([queues.enter(['a']), queues.enter(['b'])]).toEqual([true, false]);
  queues.leave(['a']);
  expect(ticket.take()).toBe(true);
  ticket.keep();
  expect(queues.enter(keys)).toBe(true);
});
