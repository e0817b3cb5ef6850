import { NodeLeases } from '../../../../lib/stores/redlock/claim/node-leases';
import { RedlockNode } from '../../../../lib/stores/redlock/node/redlock-node';
import { FakeClock } from 'nest-holdfast/testing';
import { aRequest } from '../../redis/locks';
import { StubNode } from '../support/stub-node';
import { settled } from '../support/stub-quorum';

describe('The grants of nodes to one holder', () => {
  const clock = new FakeClock();
  const store = new StubNode(clock);
  const node = new RedlockNode('a', store, clock, () => undefined);
  const leases = new NodeLeases();
  const request = aRequest('order:42');

  it('is not asked for again while a node has not answered: a failure would take back what was granted since', async () => {
    store.stop();
    const first = leases.ask(node, request);
    const second = leases.ask(node, request);
    expect(second).toBe(first);
    store.pass();
    expect(await second).toBeDefined();
    leases.answered(node);
    expect(store.calls).toEqual(['acquire']);
  });

  it('is asked for again once it has', async () => {
    await settled();
    await leases.offer(node, request);
    expect(store.calls).toEqual(['acquire', 'acquire']);
    leases.delete(node);
  });

  it('is expected while the answer is on its way', async () => {
    expect(leases.expected(node)).toBeUndefined();
    const answer = leases.ask(node, request);
    expect(leases.expected(node)).toBe(answer);
    leases.answered(node);
    leases.set(node, (await answer)!);
    expect(leases.expected(node)).toBe(await answer);
  });

  it('goes back when it comes after the end', async () => {
    leases.end();
    leases.set(node, (await leases.ask(node, request))!);
    await settled();
    expect(await store.holder('order:42')).toBeUndefined();
  });
});
