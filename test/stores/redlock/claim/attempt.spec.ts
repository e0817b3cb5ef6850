import { NodeLeases } from '../../../../lib/stores/redlock/claim/node-leases';
import { take } from '../../../../lib/stores/redlock/claim/claim';
import type { Claim } from '../../../../lib/stores/redlock/claim/claim';
import { QuorumError } from '../../../../lib/stores/redlock/vote/quorum';
import { watch } from '../../../core/support/outcome';
import { aRequest } from '../../redis/locks';
import { TIMEOUT, queueQuorum } from '../support/quorum-of';
import { settled } from '../support/stub-quorum';

const TTL = 10_000;
/** By so much a counter is beyond the time of day. */
const AHEAD = 3_600_000_000n;

function own(count = 3, others: Partial<Claim> = {}) {
  const quorum = queueQuorum(count);
  const asked = aRequest('order:42', TTL);
  const claim = { asked, request: asked, isPatient: false, ...others };
  const leases = new NodeLeases();
  const attempt = () => watch(take(quorum.quorum, claim, leases));
  const holders = () => Promise.all(quorum.stores.map((store) => store.holder('order:42')));
  return { ...quorum, claim, leases, attempt, holders };
}

async function ended<T extends { status: string }>(outcome: T): Promise<T> {
  await settled();
  return outcome;
}

/** Microseconds: two clocks of one machine differ by less. */
const MINUTE = 60_000_000n;

/** Microseconds since 1970. */
const now = () => BigInt(Date.now()) * 1_000n;

describe('An attempt at the keys of a majority', () => {
  it('has the time of day as its token, which all nodes have then', async () => {
    const { attempt, leases, nodes, stores } = own();
    const { value: token } = await ended(attempt());
    expect(token! > now() - MINUTE && token! < now() + MINUTE).toBe(true);
    for (const node of nodes) expect(leases.get(node)!.fencingToken).toBe(token);
    expect(stores.flatMap(({ calls }) => calls)).toEqual(['acquire', 'acquire', 'acquire']);
  });

  it('has the floor of its request as its token where that is beyond the time of day', async () => {
    const fencingFloor = now() + AHEAD;
    const request = { ...aRequest('order:42', TTL), fencingFloor };
    const { attempt } = own(3, { request });
    expect((await ended(attempt())).value).toBe(fencingFloor);
  });

  it('has the largest counter of the majority as its token, and raises the others to it', async () => {
    const { attempt, stores } = own();
    const counter = now() + AHEAD;
    await stores[0]!.count(counter);
    const { value: token } = await ended(attempt());
    expect(token! > counter).toBe(true);
    expect(stores.map(({ calls }) => calls)).toEqual(
      Array.from({ length: 3 }, () => ['acquire', 'raise']),
    );
  });

  it('raises no counter that a majority has already', async () => {
    const { attempt, stores } = own();
    await stores[2]!.count(now() + AHEAD);
    stores[2]!.holdReplies();
    const { value: token } = await ended(attempt());
    expect(token! < now() + AHEAD).toBe(true);
    expect(stores.flatMap(({ calls }) => calls)).not.toContain('raise');
  });

  it('is none of the counter of a node whose connection was lost meanwhile', async () => {
    const { attempt, stores, links } = own();
    const counter = now() + AHEAD;
    await stores[0]!.count(counter);
    for (const store of stores) store.holdReplies();
    const outcome = attempt();
    links[0]!.disconnect();
    links[0]!.connect();
    for (const store of stores) {
      store.pass();
      await settled();
    }
    expect(outcome.value! < counter).toBe(true);
    expect(stores.flatMap(({ calls }) => calls)).not.toContain('raise');
  });

  it('fails where a majority has lost the key before its counters were raised', async () => {
    const { attempt, stores, leases, holders } = own();
    await stores[0]!.count(now() + AHEAD);
    for (const store of stores.slice(1)) {
      const tryAcquire = store.tryAcquire.bind(store);
      store.tryAcquire = async (request) => {
        const lease = await tryAcquire(request);
        store.forget();
        return lease;
      };
    }
    expect((await ended(attempt())).value).toBeUndefined();
    expect(leases.hasEnded).toBe(true);
    expect(await holders()).toEqual([undefined, undefined, undefined]);
  });

  it('fails where a node that refused the key is needed to raise the counter', async () => {
    const { attempt, stores } = own();
    await stores[0]!.count(now() + AHEAD);
    await stores[2]!.occupy('order:42');
    const tryAcquire = stores[1]!.tryAcquire.bind(stores[1]);
    stores[1]!.tryAcquire = async (request) => {
      const lease = await tryAcquire(request);
      stores[1]!.forget();
      return lease;
    };
    expect(await ended(attempt())).toMatchObject({ status: 'fulfilled', value: undefined });
  });

  it('fails where the leases of a node cannot raise a counter, and names its store', async () => {
    const { attempt, stores, leases, holders } = own();
    await stores[0]!.count(now() + AHEAD);
    for (const store of stores) {
      const tryAcquire = store.tryAcquire.bind(store);
      store.tryAcquire = async (request) => {
        const lease = await tryAcquire(request);
        delete lease!.raiseFencing;
        return lease;
      };
    }
    const { error } = await ended(attempt());
    expect(error).toBeInstanceOf(QuorumError);
    const said = 'error its leases cannot raise a fencing counter (stub)';
    expect((error as QuorumError).report).toEqual({
      ended: '0 of 3 nodes confirmed the fencing token, 2 were needed',
      nodes: ['n0', 'n1', 'n2'].map((node) => ({ node, said })),
    });
    expect(leases.hasEnded).toBe(true);
    expect(await holders()).toEqual([undefined, undefined, undefined]);
  });

  it('on nodes without fencing tokens has none, and asks for none', async () => {
    const { attempt, quorum, stores } = own();
    Object.assign(quorum, { fences: false });
    await stores[0]!.count(now() + AHEAD);
    expect((await ended(attempt())).value).toBe(0n);
    expect(stores.flatMap(({ calls }) => calls)).toEqual(['acquire', 'acquire', 'acquire']);
  });

  it('is valid for the ttl from before it asked', async () => {
    const { attempt, leases, clock } = own();
    const asked = clock.now();
    await ended(attempt());
    expect(leases.validUntil).toBe(asked + TTL);
  });

  it('waits for no further node: it sets no timer but that of its vote', async () => {
    const { attempt, clock } = own();
    const schedule = jest.spyOn(clock, 'schedule');
    await ended(attempt());
    const timers = schedule.mock.calls.flatMap(([ms]) => (ms < TTL ? ms : []));
    expect(timers).toEqual([TIMEOUT]);
  });

  it('that others win gives back what it got', async () => {
    const { attempt, stores, leases, holders } = own();
    for (const store of stores.slice(1)) await store.occupy('order:42');
    expect((await ended(attempt())).value).toBeUndefined();
    expect(leases.hasEnded).toBe(true);
    expect(await holders()).toEqual([undefined, 'somebody', 'somebody']);
  });
});

describe('An attempt of a waiter that a node has woken', () => {
  /** The first node has granted the key; the others have it for another holder, until that releases it. */
  async function woken() {
    const setup = own(3, { isPatient: true });
    const { stores, nodes, leases, claim } = setup;
    leases.set(nodes[0]!, (await stores[0]!.tryAcquire(claim.request))!);
    const theirs = await Promise.all(stores.slice(1).map((store) => store.occupy('order:42')));
    for (const store of stores) store.calls.length = 0;
    return { ...setup, theirs };
  }
  beforeEach(() => void jest.spyOn(Math, 'random').mockReturnValue(1));
  afterEach(() => jest.restoreAllMocks());

  it('asks four times, with pauses that grow', async () => {
    const { attempt, stores, clock, leases } = await woken();
    const outcome = attempt();
    await settled();
    const asked = () => stores[1]!.calls.length;
    for (const [index, pause] of [4, 8, 12].entries()) {
      expect(asked()).toBe(index + 1);
      await clock.advance(pause - 1);
      expect(asked()).toBe(index + 1);
      await clock.advance(1);
    }
    expect(asked()).toBe(4);
    expect(outcome).toMatchObject({ status: 'fulfilled', value: undefined });
    expect(leases.hasEnded).toBe(true);
  });

  it('asks no more once its caller has given up', async () => {
    const { attempt, stores, clock, leases } = await woken();
    const outcome = attempt();
    await settled();
    leases.end();
    await clock.advance(4);
    expect(outcome).toMatchObject({ status: 'fulfilled', value: undefined });
    expect(stores[1]!.calls).toEqual(['acquire']);
  });

  it('waits for the node that woke it, a little', async () => {
    const { attempt, stores, clock, theirs } = await woken();
    await Promise.all(theirs.map((lease) => lease.release()));
    stores[0]!.holdReplies();
    const outcome = attempt();
    await settled();
    await clock.advance(99);
    expect(outcome.status).toBe('pending');
    await clock.advance(1);
    expect(outcome.status).toBe('fulfilled');
    expect(outcome.value).toBeDefined();
  });
});
