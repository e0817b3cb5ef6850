import * as fc from 'fast-check';
import { holdersOf, otherPermits, placeInQueue } from '../../../lib/stores/kit/place-in-queue.js';
import { WakingLine, holdersByDefinition } from '../../core/support/waking-queue.js';

const KINDS = [undefined, Infinity, 1, 2, 3];
const LONGEST = 5;

/** All lines of up to five nodes: of all kinds, the longest ones of those that matter most. */
function* allLines(): Generator<(number | undefined)[]> {
  let lines: (number | undefined)[][] = [[]];
  for (let length = 1; length <= LONGEST; length += 1) {
    const kinds = length < LONGEST ? KINDS : [undefined, Infinity, 2];
    lines = lines.flatMap((line) => kinds.map((permits) => [...line, permits]));
    yield* lines;
  }
}

/** All orders in which so many may leave. */
function ordersOf(count: number): number[][] {
  let orders: number[][] = [[]];
  for (let id = 0; id < count; id += 1)
    orders = orders.flatMap((order) =>
      Array.from({ length: id + 1 }, (_, at) => order.toSpliced(at, 0, id)),
    );
  return orders;
}

/** A queue in which every waiter has looked. */
function settled(kinds: readonly (number | undefined)[]): WakingLine {
  const line = new WakingLine();
  kinds.forEach((permits) => line.arrive(permits));
  line.settle();
  return line;
}

describe('A place in a line', () => {
  it('is that of a holder exactly where the definition says so, in every small line', () => {
    for (const kinds of allLines()) {
      const line = kinds.map((permits, id) => ({ id, permits }));
      const holders = holdersByDefinition(line);
      const placed = line.filter((_node, index) => placeInQueue(line, index).state === 'holds');
      expect(placed).toEqual(holders);
      expect(holdersOf(line)).toEqual(holders);
    }
    expect(holdersOf([])).toEqual([]);
  });

  it('does not depend on those behind', () => {
    for (const kinds of allLines()) {
      const line = kinds.map((permits) => ({ permits }));
      const places = (of: typeof line) => of.map((_, index) => ({ ...placeInQueue(of, index), tells: undefined })); // prettier-ignore
      const lastPlaces = line.map((_, index) => places(line.slice(0, index + 1)).at(-1));
      expect(places(line)).toEqual(lastPlaces);
    }
  });

  it('is known to all that are let in, in any order in which those in a small line leave', () => {
    for (const kinds of allLines())
      for (const order of ordersOf(kinds.length)) {
        const line = settled(kinds);
        for (const leaving of order) {
          line.remove(leaving);
          line.settle();
          line.check();
        }
      }
  });

  it('is looked at in vain by one at most when a holder leaves, where all agree on the permits', () => {
    for (const kinds of allLines())
      for (const leaving of kinds.keys()) {
        const [shared = 1, ...others] = new Set(kinds.filter((each) => each !== undefined));
        if (others.length > 0) continue;
        const line = settled(kinds);
        line.forgetLooks();
        const wasHolder = line.holders().includes(leaving);
        line.remove(leaving);
        line.settle();
        const holders = line.holders();
        const inVain = line.looks().filter((id) => !holders.includes(id));
        const isWaitingWriter = !wasHolder && kinds[leaving] === undefined;
        const most = isWaitingWriter ? shared : 1; // those right behind a writer move up together
        if (inVain.length > most)
          throw new Error(`${inVain.join()} woken by ${leaving} of ${kinds.join()}`);
      }
  });

  it('is never held by too many, and no caller is forgotten, in any order of events', () => {
    const one = (permits: number) =>
      fc.oneof(
        { arbitrary: fc.constant(permits), weight: 6 },
        { arbitrary: fc.constantFrom(undefined, Infinity, 1, 2, 3), weight: 1 },
      );
    const moves = (permits: number) =>
      fc.oneof(
        fc.record({ do: fc.constant('arrive' as const), permits: one(permits) }),
        fc.record({ do: fc.constantFrom('remove' as const, 'look' as const, 'look' as const, 'tell' as const), which: fc.nat() }), // prettier-ignore
      );
    const steps = fc
      .constantFrom(1, 2, 3, Infinity)
      .chain((permits) => fc.array(moves(permits), { maxLength: 60, size: 'max' }));
    fc.assert(
      fc.property(steps, (all) => {
        const line = new WakingLine();
        for (const each of all) {
          if (each.do === 'arrive') line.arrive(each.permits);
          else line.one(each.do, each.which);
          line.checkSafe();
        }
        line.settle();
        line.check();
      }),
      { numRuns: 300 },
    );
  });

  it('is refused to those who come with other permits than the first who share the key', () => {
    const asked = (...kinds: (number | undefined)[]) =>
      otherPermits(kinds.map((permits) => ({ permits })), kinds.length - 1); // prettier-ignore
    expect(asked(3)).toBeUndefined();
    expect(asked(3, 3)).toBeUndefined();
    expect(asked(3, 2)).toBe(3);
    expect(asked(Infinity, 2)).toBe(Infinity);
    expect(asked(undefined, Infinity, 2)).toBe(Infinity);
    expect(asked(3, undefined, 2)).toBe(3);
    expect(asked(3, 2, 3)).toBeUndefined(); // the one in between is about to leave
    expect(asked(3, undefined)).toBeUndefined();
    expect(asked(undefined, 3)).toBeUndefined();
  });
});
