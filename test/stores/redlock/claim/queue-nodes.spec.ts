import type { AcquireRequest, Lease } from 'nest-holdfast/core';
import { QueueNodes } from '../../../../lib/stores/redlock/claim/queue-nodes';
import { QuorumError } from '../../../../lib/stores/redlock/vote/quorum';
import { deferred, rejectionOf, watch } from '../../../core/support/outcome';
import { aRequest } from '../../redis/locks';
import { queueQuorum } from '../support/quorum-of';
import { settled } from '../support/stub-quorum';

const KEYS = Array.from({ length: 60 }, (_, index) => `order:${index}`);

function own(count = 3) {
  const quorum = queueQuorum(count);
  const queueNodes = new QueueNodes(quorum.quorum);
  const asked = aRequest('order:42');
  const abort = new AbortController();
  const wait = () => watch(queueNodes.wait(asked, abort.signal));
  const inLine = () => quorum.stores.map(({ line }) => line.length);
  return { ...quorum, queueNodes, asked, abort, wait, inLine };
}

describe('The node at which callers wait for a key', () => {
  it('is the same one each time, and each node has a part of the keys', () => {
    const { nodes, queueNodes } = own();
    const chosen = KEYS.map((key) => queueNodes.of(key));
    expect(KEYS.map((key) => queueNodes.of(key))).toEqual(chosen);
    expect(new Set(chosen)).toEqual(new Set(nodes));
  });

  it('is the same one in every version: processes of several wait together', () => {
    const { nodes, queueNodes } = own();
    const chosen = KEYS.slice(0, 8).map((key) => nodes.indexOf(queueNodes.of(key)!));
    expect(chosen).toEqual([0, 2, 0, 1, 2, 1, 0, 1]);
  });

  it('is the next one while it is not fit, and none while no node is', () => {
    const { nodes, links, queueNodes } = own();
    const of = (key: string) => nodes.indexOf(queueNodes.of(key)!);
    const before = KEYS.map(of);
    links[1]!.disconnect();
    expect(KEYS.map(of)).toEqual(before.map((index) => (index === 1 ? 2 : index)));
    links[2]!.disconnect();
    expect(new Set(KEYS.map(of))).toEqual(new Set([0]));
    links[0]!.disconnect();
    expect(queueNodes.of('a')).toBeUndefined();
  });

  it('is none that has no queue, or has refused the caller', () => {
    const { nodes, stores, queueNodes } = own();
    Object.assign(stores[1]!, { acquire: undefined });
    const refusals = new Map([[nodes[0]!, new Error('OOM')]]);
    const chosen = new Set(KEYS.map((key) => queueNodes.of(key, refusals)));
    expect(chosen).toEqual(new Set([nodes[2]]));
  });
});

describe('A caller that waits at a node', () => {
  it('gets a claim of a request with a token of its own', async () => {
    const { nodes, stores, asked, wait, inLine } = own();
    const outcome = wait();
    await settled();
    const index = inLine().indexOf(1);
    await stores[index]!.handOff();
    await settled();
    const { node, request, lease } = outcome.value!;
    expect(node).toBe(nodes[index]);
    expect(request).toEqual({ ...asked, token: expect.any(String) });
    expect(request.token).not.toBe(asked.token);
    expect(await lease.release()).toBe(true);
  });

  it('pauses first when claims of it have failed', async () => {
    const { clock, queueNodes, asked, wait, inLine } = own();
    queueNodes.backoff.lost(asked);
    wait();
    await settled();
    expect(inLine()).toEqual([0, 0, 0]);
    await clock.advance(50);
    expect(inLine().filter(Boolean)).toEqual([1]);
  });

  it('leaves at once when it gives up, also a node that does not react to that', async () => {
    const { stores, abort, wait } = own();
    const late = deferred<Lease>();
    const signals: AbortSignal[] = [];
    for (const store of stores)
      store.acquire = (_: AcquireRequest, signal: AbortSignal) => {
        signals.push(signal);
        return late.promise;
      };
    const outcome = wait();
    await settled();
    abort.abort(new Error('enough'));
    await settled();
    expect(outcome.error).toBe(abort.signal.reason);
    expect(signals).toMatchObject([{ aborted: true, reason: abort.signal.reason }]);
    const release = jest.fn().mockResolvedValue(true);
    late.resolve({ release, extend: jest.fn() });
    await settled();
    expect(release).toHaveBeenCalledTimes(1);
  });

  it('does not begin to wait when it has given up', async () => {
    const { abort, wait, inLine } = own();
    abort.abort(new Error('enough'));
    const outcome = wait();
    await settled();
    expect(outcome.error).toBe(abort.signal.reason);
    expect(inLine()).toEqual([0, 0, 0]);
  });

  it('moves on when the node is lost, and comes back without a failure', async () => {
    const { clock, links, queueNodes, asked, wait, inLine } = own(1);
    wait();
    await settled();
    links[0]!.disconnect();
    links[0]!.connect();
    expect(inLine()).toEqual([1]);
    queueNodes.of('a')!.unfit();
    await clock.advance(50);
    expect(inLine()).toEqual([1]);
    expect(queueNodes.backoff.pauseOf(asked)).toBe(0);
  });

  it('stops listening to the node and to its caller when it has left', async () => {
    const { stores, nodes, abort, wait, inLine } = own(1);
    const left = jest.spyOn(abort.signal, 'removeEventListener');
    const outcome = wait();
    await settled();
    await stores[0]!.handOff();
    await settled();
    expect(outcome.status).toBe('fulfilled');
    expect(left.mock.calls.map(([type]) => type)).toContain('abort');
    nodes[0]!.unfit();
    await settled();
    expect(inLine()).toEqual([0]);
    expect(await stores[0]!.holder('order:42')).toBeDefined();
  });

  it('is rejected with the answer of each node when none has let it wait for long', async () => {
    const { clock, stores, links, wait } = own();
    links[1]!.disconnect();
    Object.assign(stores[2]!, { acquire: undefined });
    stores[0]!.acquire = () => Promise.reject(new Error('OOM'));
    const outcome = wait();
    while (outcome.status === 'pending') await clock.advance(10);
    expect(outcome.error).toBeInstanceOf(QuorumError);
    expect((outcome.error as QuorumError).report).toEqual({
      ended: '0 of 3 nodes let callers wait, 2 were needed',
      nodes: [
        { node: 'n0', said: 'error OOM' },
        { node: 'n1', said: 'refused (not connected)' },
        { node: 'n2', said: 'error no caller can wait here' },
      ],
    });
    expect(clock.now() - 50_000).toBeGreaterThanOrEqual(2_000);
  });

  it('takes a malformed claim for a refusal', async () => {
    const { clock, stores, wait } = own(1);
    stores[0]!.acquire = () => Promise.resolve({} as Lease);
    const failed = rejectionOf<QuorumError>(
      (async () => {
        const outcome = wait();
        while (outcome.status === 'pending') await clock.advance(10);
        throw outcome.error;
      })(),
    );
    expect((await failed).report.nodes[0]!.said).toMatch(/^error .*a lease/);
  });
});
