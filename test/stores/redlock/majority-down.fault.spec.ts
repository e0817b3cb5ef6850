import type { LockStoreError, LockTimeoutError } from 'nest-holdfast';
import { rejectionOf } from '../../core/support/outcome.js';
import { RedlockNodes, RedlockProcess } from './support/nodes.js';
import { until } from '../../support/until.js';

const DOWN = [0, 1, 2];
const UP = [3, 4];

describe('With three nodes of five', () => {
  let nodes: RedlockNodes;
  let own: RedlockProcess;

  beforeEach(async () => {
    nodes = await RedlockNodes.start();
    own = await RedlockProcess.start(nodes, { nodeTimeout: 3_000, service: { ttl: 30_000 } });
    await own.locks.withLock('warm-up', async () => {});
    await own.answered();
  });

  afterEach(async () => {
    await own[Symbol.asyncDispose]();
    await nodes[Symbol.asyncDispose]();
  });

  const up = () => UP.map((index) => nodes.servers[index]!);
  const areCut = () => until(() => DOWN.every((index) => own.clients[index]!.status !== 'ready'));

  /** Makes sure that the error tells of every node, and that nothing is left where it was granted. */
  async function fails(said: RegExp): Promise<void> {
    const acquiring = own.locks.acquire('order:42', { waitTimeout: 20_000, storeTimeout: 20_000 });
    const error = await rejectionOf<LockStoreError>(acquiring);
    expect(error).toMatchObject({ code: 'LOCK_STORE_FAILED', store: 'redlock', key: 'order:42' });
    expect((error.cause as Error).name).toBe('QuorumError'); // and not that the store took too long
    expect(error.nodes.map(({ node }) => node)).toEqual(own.proxies.map((_, index) => own.name(index))); // prettier-ignore
    for (const index of DOWN) expect(error.nodes[index]!.said).toMatch(said);
    for (const { node, said: words } of error.nodes) expect(error.message).toContain(`${node} ${words}`); // prettier-ignore
    expect(error.message).toMatch(/[0-2] of 5 nodes granted, 3 were needed/);
    await nodes.nothingLeft(up());
  }

  it('down, an acquire is refused at once, with what each node said', async () => {
    await Promise.all(DOWN.map((index) => nodes.servers[index]!.kill()));
    await areCut();
    await fails(/^refused \(not connected\)$/);
  });

  it('hung, an acquire ends with the nodeTimeout, with what each node said', async () => {
    for (const index of DOWN) nodes.servers[index]!.pause();
    await fails(/^timeout$/);
    for (const index of DOWN) nodes.servers[index]!.resume();
    await nodes.nothingLeft();
  });

  it('that fail, an acquire ends at once, with what each node said', async () => {
    for (const index of DOWN) await nodes.servers[index]!.command('CONFIG', 'SET', 'maxmemory', 1);
    await fails(/^error .*OOM/);
    for (const index of DOWN) await nodes.servers[index]!.command('CONFIG', 'SET', 'maxmemory', 0);
    await nodes.nothingLeft();
  });

  it('down, an acquire that waits for a key ends, too', async () => {
    await using other = await RedlockProcess.start(nodes);
    const theirs = await other.locks.acquire('order:42');
    const waiting = rejectionOf(own.locks.acquire('order:42', { waitTimeout: 3_000 }));
    await Promise.all(DOWN.map((index) => nodes.servers[index]!.kill()));
    expect(await waiting).toMatchObject({ code: /^LOCK_(TIMEOUT|STORE_FAILED)$/ });
    await theirs.release();
    await nodes.nothingLeft(up());
  });

  it('down, a lock is in jeopardy and lost with its validity, and given back where it can be', async () => {
    const events: string[] = [];
    for (const name of ['jeopardy', 'lost'] as const) own.locks.events.on(name, () => events.push(name)); // prettier-ignore
    const lock = await own.locks.acquire('order:42', { ttl: 4_000 });
    const freed = nodes.nothingLeft(up());
    await Promise.all(DOWN.map((index) => nodes.servers[index]!.kill()));
    await until(() => lock.signal.aborted);
    expect(events.at(0)).toBe('jeopardy');
    expect(events.at(-1)).toBe('lost');
    expect(lock.signal.reason).toMatchObject({ code: 'LOCK_LOST', reason: 'expired' });
    await freed;
  });

  it('that come back, locks are taken again', async () => {
    await Promise.all(DOWN.map((index) => nodes.servers[index]!.kill()));
    await areCut();
    await fails(/^refused/);
    await Promise.all(DOWN.map((index) => nodes.servers[index]!.restart()));
    await until(() => own.clients.every(({ status }) => status === 'ready'));
    expect(await own.locks.withLock('order:42', async () => 'fine again')).toBe('fine again');
    await nodes.nothingLeft();
  });

  it('held by another caller, one down and one up, the wait ends with what each node said', async () => {
    await using other = await RedlockProcess.start(nodes);
    for (const index of UP) other.proxies[index]!.refuse();
    for (const index of UP) other.proxies[index]!.cutAll();
    await until(() => UP.every((index) => other.clients[index]!.status !== 'ready'));
    const theirs = await other.locks.acquire('order:42');
    await nodes.servers[3]!.kill();
    await until(() => own.clients[3]!.status !== 'ready');
    const error = await rejectionOf<LockTimeoutError>(own.locks.acquire('order:42', { waitTimeout: 0 })); // prettier-ignore
    expect(error.code).toBe('LOCK_TIMEOUT');
    const said = error.nodes.map((node) => node.said);
    expect(said[3]).toBe('refused (not connected)');
    // The vote is settled by the second of them, if the free node has answered before.
    const [first, second, third] = said.slice(0, 3).toSorted();
    expect([first, second]).toEqual(['held', 'held']);
    expect(third).toMatch(/^(held|no answer yet)$/);
    expect(error.message).toContain(`${own.name(said.indexOf('held'))} held`);
    await theirs.release();
    await nodes.nothingLeft([0, 1, 2, 4].map((index) => nodes.servers[index]!));
  });
});
