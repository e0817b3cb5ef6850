import * as fc from 'fast-check';
import { nodesFrom, placeOf } from '../../../../lib/stores/zookeeper/names/place-of-node.js';
import {
  nodePrefix,
  nodesOf,
  parseNode,
  pathElement,
  readerMark,
} from '../../../../lib/stores/zookeeper/names/node-names.js';

type Permits = number | undefined;

const HOLDS = { state: 'holds', tells: false };
const LARGEST = 2 ** 31 - 1;
const WRITE = undefined;
const READ = Infinity;

function waitsFor(node: string, until: 'gone' | 'changed' = 'gone', inUse?: number) {
  return { state: 'waits', awaits: { node, until }, inUse };
}

/** As the server writes its numbers. */
function named(request: string, permits: Permits, sequence: number): string {
  const digits = String(Math.abs(sequence)).padStart(sequence < 0 ? 9 : 10, '0');
  return `${nodePrefix(request, permits)}${sequence < 0 ? '-' : ''}${digits}`;
}

/** A line of nodes of these kinds. */
function parentOf(...kinds: Permits[]): string[] {
  return kinds.map((permits, index) => named(`n${index}`, permits, index + 1));
}

describe('The line for a key', () => {
  const [first, second, third] = [7, 8, 12].map((number) => named(`w${number}`, WRITE, number)) as [string, string, string]; // prettier-ignore

  it('lets the lowest hold, in any order of the list', () => {
    expect(placeOf(first, [third, first, second])).toEqual(HOLDS);
  });

  it('lets each other one watch the one right before it', () => {
    expect(placeOf(third, [third, first, second])).toEqual(waitsFor(second));
    expect(placeOf(second, [third, first, second])).toEqual(waitsFor(first));
  });

  it('lets one whose predecessor has died watch the next lower one, and not hold', () => {
    expect(placeOf(third, [third, first])).toEqual(waitsFor(first));
  });

  it('says so when a node is not there any more', () => {
    expect(placeOf(second, [first, third])).toEqual({ state: 'gone' });
  });

  it('does not count nodes that are none of ours', () => {
    expect(placeOf(second, ['lock-0000000001', 'notes', second])).toEqual(HOLDS);
    expect(nodesOf(['lock-0000000001', 'x-permits0-0000000001', 'notes'])).toEqual([]);
  });

  it('lets readers hold together, who wait for writers only', () => {
    const line = parentOf(READ, READ, WRITE, READ, READ, WRITE);
    const [, r2, w3, , r5] = line;
    const places = line.map((name) => placeOf(name, line.toReversed()));
    const behind = waitsFor(w3!, 'changed');
    expect(places).toEqual([HOLDS, HOLDS, waitsFor(r2!), behind, behind, waitsFor(r5!)]);
  });

  it('has the first who waits for a permit watch all, and the others the one before it', () => {
    const line = parentOf(2, 2, 2, 2);
    const names = line.toReversed();
    const places = line.map((name) => placeOf(name, names));
    const holds = { state: 'holds', tells: true }; // those behind may have looked before it held
    const all = { state: 'waits', awaits: { names } };
    expect(places).toEqual([holds, holds, all, waitsFor(line[2]!, 'changed')]);
  });

  it('counts a writer as a reader that has its mark, and no mark as anything else', () => {
    const line = parentOf(WRITE, READ, WRITE, READ);
    const mark = readerMark(line[0]!);
    const places = line.map((name) => placeOf(name, [mark, ...line]));
    expect(places.slice(0, 3)).toEqual([HOLDS, HOLDS, waitsFor(line[1]!)]);
    expect(placeOf(line[1]!, [mark, ...line.slice(1)])).toEqual(HOLDS);
    expect(placeOf(mark, [mark, ...line])).toEqual({ state: 'gone' });
  });

  it('tells those with other permits who was there first', () => {
    const line = parentOf(3, 2, 3, READ);
    const places = line.map((name) => placeOf(name, line));
    expect(places[1]).toEqual(waitsFor(line[0]!, 'gone', 3));
    expect(places[2]).toEqual(waitsFor(line[1]!, 'gone'));
    expect(places[3]).toEqual(waitsFor(line[2]!, 'gone', 3));
  });

  it('goes on when the numbers of the server wrap', () => {
    const [before, after] = [named('a', WRITE, LARGEST), named('b', WRITE, -LARGEST - 1)];
    expect(after).toBe('b-write--2147483648');
    expect(named('c', WRITE, -5)).toBe('c-write--000000005');
    expect(placeOf(before, [after, before])).toEqual(HOLDS);
    expect(placeOf(after, [after, before])).toEqual(waitsFor(before));
    expect(nodesOf([after, before]).map(({ name }) => name)).toEqual([before, after]);
  });

  it('finds what a request left, and nothing of a request whose name begins alike', () => {
    const mine = named('a', WRITE, 4);
    const others = [named('a-write-b', WRITE, 1), named('a', READ, 2), named('aa', WRITE, 3)];
    expect(nodesFrom(nodePrefix('a', WRITE), [...others, mine])).toEqual([mine]);
  });
});

describe('Any line', () => {
  it('is in the order of its numbers, wherever they begin and however it is listed', () => {
    const lines = fc
      .tuple(
        fc.array(fc.constantFrom(READ, WRITE, 3), { minLength: 1, maxLength: 12 }),
        fc.integer({ min: -LARGEST - 1, max: LARGEST }),
      )
      .map(([kinds, start]) => kinds.map((permits, index) => named(`n${index}`, permits, (start + index) | 0))); // prettier-ignore
    const listed = lines.chain((line) =>
      fc.tuple(fc.constant(line), fc.shuffledSubarray(line, { minLength: line.length })),
    );
    fc.assert(
      fc.property(listed, ([line, names]) => {
        expect(nodesOf(names).map(({ name }) => name)).toEqual(line);
      }),
    );
  });
});

describe('Names at ZooKeeper', () => {
  const text = fc.string({ unit: 'binary', minLength: 1 }).filter((each) => each.isWellFormed());

  it('take any text, keep two apart, and can be read back', () => {
    fc.assert(
      fc.property(text, (key) => {
        const name = pathElement(key);
        expect(name).toMatch(/^(?!\.)[\x21-\x7e]+$/);
        expect(name).not.toContain('/');
        expect(decodeURIComponent(name)).toBe(key);
      }),
    );
  });

  it.each([
    ['order:42', 'order%3A42'],
    ['/a//b', '%2Fa%2F%2Fb'],
    ['.', '%2E'],
    ['..', '%2E.'],
    ['zookeeper', 'zookeeper'],
  ])('call %j %s', (key, name) => expect(pathElement(key)).toBe(name));

  it('tell the request, the permits and the number apart, for any request', () => {
    const kinds = fc.oneof(fc.constantFrom(READ, WRITE), fc.integer({ min: 1 }));
    const numbers = fc.integer({ min: -LARGEST - 1, max: LARGEST });
    fc.assert(
      fc.property(text, kinds, numbers, (request, permits, sequence) => {
        const name = named(request, permits, sequence);
        expect(parseNode(name)).toEqual({ name, request: pathElement(request), permits, sequence });
        expect(parseNode(readerMark(name))).toBeUndefined();
      }),
    );
  });
});
