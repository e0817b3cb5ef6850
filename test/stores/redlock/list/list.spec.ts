import type { LockPage, LockStore } from 'nest-holdfast/core';
import { rejectionOf } from '../../../core/support/outcome';
import { StubProcess, stubQuorum } from '../support/stub-quorum';

/** All pages, and the keys in the order in which they were told. */
async function listAll(
  store: LockStore,
  limit: number,
  between: (page: LockPage) => unknown = () => undefined,
): Promise<{ keys: string[]; last: LockPage }> {
  const keys: string[] = [];
  let cursor: string | undefined;
  for (;;) {
    const page = await store.list!({ limit, cursor });
    keys.push(...page.locks.map(({ key }) => key));
    cursor = page.cursor;
    if (cursor === undefined) return { keys, last: page };
    await between(page);
  }
}

const KEYS = Array.from({ length: 9 }, (_, index) => `order:${index}`);

describe('the list of a quorum', () => {
  it('tells each key of a majority once, and none of a minority', async () => {
    const { locks, nodes, store } = stubQuorum(5);
    for (const key of KEYS) await locks.acquire(key);
    await nodes[1]!.occupy('minority');
    for (const node of nodes.slice(2)) await node.occupy('theirs');
    for (const limit of [1, 4, 100]) {
      const { keys, last } = await listAll(store, limit);
      expect(keys.toSorted()).toEqual([...KEYS, 'theirs']);
      expect(last.unreachable).toBeUndefined();
    }
  });

  it('tells which nodes it does without', async () => {
    const { locks, nodes, store } = stubQuorum(3);
    for (const key of KEYS) await locks.acquire(key);
    nodes[0]!.fail(new Error('ECONNRESET'));
    const { keys, last } = await listAll(store, 4);
    expect(keys.toSorted()).toEqual(KEYS);
    expect(last.unreachable).toEqual([{ node: 'stub 1', said: 'error ECONNRESET' }]);
  });

  it('goes on where a node fails in the middle of its list', async () => {
    const { locks, nodes, store } = stubQuorum(3);
    for (const key of KEYS) await locks.acquire(key);
    const { keys } = await listAll(store, 4, () => nodes[0]!.fail(new Error('ECONNRESET')));
    expect(keys.toSorted()).toEqual(KEYS);
  });

  it('tells a key that a node got after it was listed, and another one had before', async () => {
    const { nodes, store } = stubQuorum(3);
    for (const node of nodes.slice(1)) await node.occupy('late');
    const { keys } = await listAll(store, 4, () => nodes[0]!.occupy('late').catch(() => {}));
    expect(keys).toEqual(['late']);
  });

  it('goes on in another process, which may tell a key again', async () => {
    const { locks, nodes, clock, store } = stubQuorum(3);
    for (const key of KEYS) await locks.acquire(key);
    const other = new StubProcess(nodes, clock);
    const first = await store.list!({ limit: 4 });
    const keys = first.locks.map(({ key }) => key);
    for (let { cursor } = first; cursor !== undefined;) {
      const page: LockPage = await other.store.list!({ limit: 4, cursor });
      keys.push(...page.locks.map(({ key }) => key));
      cursor = page.cursor;
    }
    expect([...new Set(keys)].toSorted()).toEqual(KEYS);
  });

  it('rejects when too few nodes can be listed', async () => {
    const { locks, nodes } = stubQuorum(3);
    await locks.acquire('a');
    for (const node of nodes.slice(0, 2)) node.fail(new Error('ECONNRESET'));
    const { cursor } = await locks.list();
    expect((await rejectionOf(locks.list({ cursor }))).cause).toMatchObject({
      report: { ended: '1 of 3 nodes listed, 2 were needed' },
    });
  });

  it('refuses the cursor of another store', async () => {
    const { locks } = stubQuorum(3);
    const error = await rejectionOf(locks.list({ cursor: 'x' }));
    expect(error).toMatchObject({ name: 'TypeError', code: 'LOCK_OPTION_INVALID' });
  });

  it('refuses the cursor of a list of other nodes', async () => {
    const { store } = stubQuorum(3, { upFor: [1, 1, 1] });
    const other = stubQuorum(3);
    await other.locks.acquire('a');
    await other.locks.acquire('b');
    const { cursor } = await other.store.list!({ limit: 1 });
    expect(cursor).toBeDefined();
    expect(await rejectionOf(store.list!({ limit: 1, cursor }))).toBeInstanceOf(TypeError);
  });

  it('tells the keys that were asked for', async () => {
    const { locks, store } = stubQuorum(3);
    for (const key of ['order:1', 'stock:1']) await locks.acquire(key);
    const keys = [];
    for (let cursor: string | undefined, page = 0; page < 3; page++) {
      const found: LockPage = await store.list!({ limit: 5, cursor, match: 'order:*' });
      keys.push(...found.locks.map(({ key }) => key));
      cursor = found.cursor;
    }
    expect(keys).toEqual(['order:1']);
  });

  it('is read from one page of a node to the next, and then from the next node', async () => {
    const { locks, store, nodes } = stubQuorum(3);
    for (const key of KEYS.slice(0, 3)) await locks.acquire(key);
    const { last } = await listAll(store, 2);
    expect(last.cursor).toBeUndefined();
    const lists = nodes.map(({ calls }) => calls.filter((verb) => verb === 'list').length);
    expect(lists).toEqual([2, 2, 2]);
  });

  it('does without a node that hangs, after two seconds, and one that is away', async () => {
    const { locks, store, nodes, links, clock } = stubQuorum(5, {
      upFor: Array.from({ length: 5 }, () => 60_000),
    });
    await locks.acquire('a', { autoExtend: false });
    nodes[0]!.stop();
    links[1]!.disconnect();
    const first = store.list!({ limit: 5 });
    await clock.advance(2_000);
    const { cursor } = await first;
    const second = await store.list!({ limit: 5, cursor });
    expect(second.unreachable).toEqual([
      { node: 'a', said: 'timeout' },
      { node: 'b', said: 'refused (not connected)' },
    ]);
    expect(nodes[1]!.calls).not.toContain('list');
  });

  it('rejects with what each node said', async () => {
    const { nodes, store } = stubQuorum(3);
    nodes[0]!.fail(new Error('ECONNRESET'));
    const { cursor } = await store.list!({ limit: 5 });
    nodes[1]!.fail(new Error('EPIPE'));
    expect(await rejectionOf(store.list!({ limit: 5, cursor }))).toMatchObject({
      report: {
        nodes: [
          { node: 'stub 1', said: 'error ECONNRESET' },
          { node: 'stub 2', said: 'error EPIPE' },
          { node: 'stub 3', said: 'answered' },
        ],
      },
    });
  });
});
