import { CallBatcher, LARGEST_CALL } from '../../../../lib/stores/redis/send/call-batcher.js';

/** An item of a group, for some keys. */
interface Item {
  readonly group: string;
  readonly keys: readonly string[];
}

const item = (group: string, keys = 1): Item => ({ group, keys: Array<string>(keys).fill('key') });
const endOfTurn = () => new Promise((resolve) => setImmediate(resolve));

describe('What is sent at the end of a turn', () => {
  let calls: (readonly Item[])[];
  let batcher: CallBatcher<Item>;

  beforeEach(() => {
    calls = [];
    batcher = new CallBatcher(
      ({ group }) => group,
      (items) => calls.push(items),
    );
  });

  it('leaves in one call for each group, in the order of the first of each', async () => {
    const items = [item('a'), item('b'), item('a')];
    for (const each of items) batcher.add(each);
    expect(calls).toEqual([]);
    await endOfTurn();
    expect(calls).toEqual([[items[0], items[2]], [items[1]]]);
  });

  it('leaves anew in each turn', async () => {
    batcher.add(item('a'));
    await endOfTurn();
    await endOfTurn();
    batcher.add(item('b'));
    await endOfTurn();
    expect(calls.map((call) => call.map(({ group }) => group))).toEqual([['a'], ['b']]);
  });

  it('leaves in calls of a hundred', async () => {
    for (let count = 0; count < 2 * LARGEST_CALL + 1; count++) batcher.add(item('a'));
    await endOfTurn();
    expect(calls.map(({ length }) => length)).toEqual([LARGEST_CALL, LARGEST_CALL, 1]);
  });

  it('leaves in calls that end with the item that brings them to four hundred keys', async () => {
    for (const keys of [399, 1, 400, 1, 500, 399]) batcher.add(item('a', keys));
    await endOfTurn();
    expect(calls.map((call) => call.map(({ keys }) => keys.length))).toEqual([
      [399, 1],
      [400],
      [1, 500],
      [399],
    ]);
  });
});
