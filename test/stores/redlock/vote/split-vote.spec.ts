import { StubProcess, settled, stubQuorum } from '../support/stub-quorum';
import { watch } from '../../../core/support/outcome';

const TIMEOUT = 50;

describe('A vote that splits is settled:', () => {
  beforeAll(() => void jest.spyOn(process, 'emitWarning').mockReturnValue());
  afterAll(() => jest.restoreAllMocks());

  it.each([
    [2, 1],
    [4, 2],
    [6, 3],
  ])('of %i nodes, %i are held by another caller', async (count, half) => {
    const { locks, nodes } = stubQuorum(count);
    for (const node of nodes.slice(0, half)) await node.occupy('a');
    expect(await locks.tryAcquire('a')).toBeUndefined();
    await settled();
    for (const node of nodes.slice(half)) expect(await node.holder('a')).toBeUndefined();
  });

  it.each([
    [2, 1],
    [4, 2],
  ])('of %i nodes, %i are down', async (count, half) => {
    const { locks, nodes } = stubQuorum(count);
    for (const node of nodes.slice(0, half)) node.fail(new Error('down'));
    await expect(locks.acquire('a')).rejects.toMatchObject({ code: 'LOCK_STORE_FAILED' });
  });

  it.each([
    [2, 1],
    [4, 2],
  ])('of %i nodes, %i hang', async (count, half) => {
    const { locks, nodes, clock } = stubQuorum(count, { nodeTimeout: TIMEOUT });
    for (const node of nodes.slice(0, half)) node.stop();
    const outcome = watch(locks.acquire('a'));
    await clock.advance(TIMEOUT);
    expect(outcome.error).toMatchObject({ code: 'LOCK_STORE_FAILED' });
  });

  it.each([
    [2, 1],
    [4, 2],
  ])('of %i nodes, %i have lost the key, and so it is extended, and released', async (...row) => {
    const [count, half] = row;
    const { locks, nodes } = stubQuorum(count);
    const lock = await locks.acquire('a', { autoExtend: false });
    for (const node of nodes.slice(0, half)) node.forget();
    await expect(lock.extend(30_000)).rejects.toMatchObject({ code: 'LOCK_LOST', reason: 'gone' });
    const again = await locks.acquire('b');
    for (const node of nodes.slice(0, half)) node.forget();
    expect(await again.release()).toBe(false);
  });

  it.each([2, 4])('two callers at %i nodes in opposite order both get an answer', async (count) => {
    const one = stubQuorum(count);
    const other = new StubProcess(one.nodes.toReversed(), one.clock);
    for (let round = 0; round < 20; round++) {
      const [first, second] = await Promise.all([one.locks.tryAcquire('a'), other.locks.tryAcquire('a')]); // prettier-ignore
      expect(first && second).toBeUndefined();
      await first?.release();
      await second?.release();
      await settled();
    }
  });
});
