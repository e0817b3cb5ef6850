import * as fc from 'fast-check';
import { firstOf, nodesFrom, placeOf } from '../../lib/stores/zookeeper/line.js';
import { nodePrefix, parseNode, pathElement } from '../../lib/stores/zookeeper/node-names.js';

const HOLDS = { state: 'holds' };
const LARGEST = 2 ** 31 - 1;

function waitsFor(watch: string) {
  return { state: 'waits', watch };
}

/** As the server writes its numbers. */
function named(request: string, mode: 'read' | 'write', sequence: number): string {
  const digits = String(Math.abs(sequence)).padStart(sequence < 0 ? 9 : 10, '0');
  return `${nodePrefix(request, mode)}${sequence < 0 ? '-' : ''}${digits}`;
}

describe('The line for a key', () => {
  const [first, second, third] = [7, 8, 12].map((number) => named(`w${number}`, 'write', number)) as [string, string, string]; // prettier-ignore

  it('lets the lowest hold, in whatever order the server lists them', () => {
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
    expect(firstOf(['lock-0000000001', 'notes'])).toBeUndefined();
  });

  it('lets readers hold together, who wait for writers only', () => {
    const [r1, r2, w3, r4, r5, w6] = ['read', 'read', 'write', 'read', 'read', 'write'].map(
      (mode, index) => named(`n${index}`, mode as 'read', index + 1),
    ) as [string, string, string, string, string, string];
    const all = [r5, w3, r1, w6, r4, r2];
    expect([r1, r2].map((name) => placeOf(name, all))).toEqual([HOLDS, HOLDS]);
    expect(placeOf(w3, all)).toEqual(waitsFor(r2));
    expect([r4, r5].map((name) => placeOf(name, all))).toEqual([waitsFor(w3), waitsFor(w3)]);
    expect(placeOf(w6, all)).toEqual(waitsFor(r5));
  });

  it('goes on when the numbers of the server wrap', () => {
    const [before, after] = [named('a', 'write', LARGEST), named('b', 'write', -LARGEST - 1)];
    expect(after).toBe('b-write--2147483648');
    expect(named('c', 'write', -5)).toBe('c-write--000000005');
    expect(placeOf(before, [after, before])).toEqual(HOLDS);
    expect(placeOf(after, [after, before])).toEqual(waitsFor(before));
    expect(firstOf([after, before])?.name).toBe(before);
  });

  it('finds what a request left, and nothing of a request whose name begins alike', () => {
    const mine = named('a', 'write', 4);
    const others = [named('a-write-b', 'write', 1), named('a', 'read', 2), named('aa', 'write', 3)];
    expect(nodesFrom(nodePrefix('a', 'write'), [...others, mine])).toEqual([mine]);
  });
});

describe('Any line, as its nodes leave one by one', () => {
  const lines = fc
    .tuple(
      fc.array(fc.constantFrom('read' as const, 'write' as const), { minLength: 1, maxLength: 12 }),
      fc.integer({ min: -LARGEST - 1, max: LARGEST }),
    )
    .map(([modes, start]) => modes.map((mode, index) => named(`n${index}`, mode, (start + index) | 0))); // prettier-ignore

  it('is held by its first writer, or by all readers before the first writer, and by nobody else', () => {
    fc.assert(
      fc.property(shuffled(lines), ([line, listed]) => {
        const isWriter = (name: string) => parseNode(name)!.mode === 'write';
        const writer = line.findIndex(isWriter);
        const holders = writer === 0 ? line.slice(0, 1) : line.slice(0, writer < 0 ? undefined : writer); // prettier-ignore
        expect(line.filter((name) => placeOf(name, listed).state === 'holds')).toEqual(holders);
        expect(firstOf(listed)?.name).toBe(line[0]);
      }),
    );
  });

  it('wakes nobody but who watched the one that left, and nobody is forgotten', () => {
    fc.assert(
      fc.property(shuffled(lines), fc.infiniteStream(fc.nat()), ([line, listed], choices) => {
        const places = new Map(line.map((name) => [name, placeOf(name, listed)]));
        let left = listed;
        while (left.length > 0) {
          const gone = left[(choices.next().value as number) % left.length]!;
          left = left.filter((name) => name !== gone);
          for (const [name, place] of places)
            if (place.state === 'waits' && place.watch === gone)
              places.set(name, placeOf(name, left));
          for (const name of left) expect(places.get(name)).toEqual(placeOf(name, left));
        }
      }),
    );
  });

  it('is watched node by node: no two writers watch the same one', () => {
    fc.assert(
      fc.property(shuffled(lines), ([line, listed]) => {
        const writers = line.filter((name) => parseNode(name)!.mode === 'write');
        const watched = writers.map((name) => placeOf(name, listed)).filter(({ state }) => state === 'waits'); // prettier-ignore
        const names = watched.map((place) => (place.state === 'waits' ? place.watch : ''));
        expect(new Set(names).size).toBe(names.length);
      }),
    );
  });

  /** With the order in which a server may list it. */
  function shuffled(line: fc.Arbitrary<string[]>): fc.Arbitrary<[string[], string[]]> {
    return line.chain((names) =>
      fc
        .shuffledSubarray(names, { minLength: names.length })
        .map((listed): [string[], string[]] => [names, listed]),
    );
  }
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

  it('tell the request, the mode and the number apart, whatever the request is', () => {
    const modes = fc.constantFrom('read' as const, 'write' as const);
    const numbers = fc.integer({ min: -LARGEST - 1, max: LARGEST });
    fc.assert(
      fc.property(text, modes, numbers, (request, mode, sequence) => {
        const name = named(request, mode, sequence);
        expect(parseNode(name)).toEqual({ name, request: pathElement(request), mode, sequence });
      }),
    );
  });
});
