import { stubQuorum } from '../support/stub-quorum';

const TTL = 3_000;
const VALID = TTL - 32;

describe('While renewals hang at a majority,', () => {
  it.each([50, 1_000, 60_000])(
    'with a nodeTimeout of %i ms, the signal aborts with the validity',
    async (nodeTimeout) => {
      // prettier-ignore
      const { locks, nodes, clock } = stubQuorum(5, { nodeTimeout });
      const lock = await locks.acquire('a', { ttl: TTL, retryCount: Infinity });
      for (const node of nodes.slice(0, 3)) node.stop();
      await clock.advance(VALID - 1);
      expect(lock.signal.aborted).toBe(false);
      expect(lock.state).toBe('jeopardy');
      await clock.advance(1);
      expect(lock.signal.aborted).toBe(true);
      expect(lock.signal.reason).toMatchObject({ code: 'LOCK_LOST', reason: 'expired' });
    },
  );

  it('the lock survives when they answer before its validity ends', async () => {
    const { locks, nodes, clock } = stubQuorum(5, { nodeTimeout: 50 });
    const events: string[] = [];
    for (const name of ['jeopardy', 'recovered', 'lost'] as const)
      locks.events.on(name, () => events.push(name));
    const lock = await locks.acquire('a', { ttl: TTL });
    for (const node of nodes.slice(0, 3)) node.stop();
    await clock.advance(TTL / 2);
    for (const node of nodes) node.pass();
    await clock.advance(TTL);
    expect(lock.state).toBe('held');
    expect(events[0]).toBe('jeopardy');
    expect(events).toContain('recovered');
    expect(events).not.toContain('lost');
  });

  it('a release ends all the same', async () => {
    const { locks, nodes, clock } = stubQuorum(5, { nodeTimeout: 50 });
    const lock = await locks.acquire('a', { ttl: TTL });
    for (const node of nodes.slice(0, 3)) node.stop();
    const released = lock.release();
    await clock.advance(50);
    expect(await released).toBe(false);
    for (const node of nodes) node.pass();
    await clock.advance(0);
    for (const node of nodes) expect(await node.holder('a')).toBeUndefined();
  });
});
