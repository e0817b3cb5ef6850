import assert from 'node:assert/strict';
import type {
  AcquireRequest,
  EvictRequest,
  Lease,
  StoreNotice,
} from '../../../../core/contract/lock-store.js';
import { aRequest } from '../../backend.js';
import { until } from '../../until.js';
import type { Backend } from '../../backend.js';
import { needing } from '../../check.js';
import type { Check } from '../../check.js';

/** For stores that take a key from its holder. */
export const evictChecks: Record<string, Check> = {
  'evicts the named holder, which finds out': needing(['evict'], async (backend) => {
    const [a, b] = await backend.stores();
    const request = aRequest();
    const lease = await backend.hold(a, request);
    const answer = await b.evict!(evictionOf(request, lease.fencingToken!));
    assert.equal(answer.state, 'taken');
    assert.equal(answer.owner ?? request.token, request.token, 'another owner is told');
    assert.ok(answer.taken!.fencingToken! > lease.fencingToken!, 'the token does not grow');
    assert.equal(await b.tryAcquire(aRequest({ keys: [request.key] })), undefined);
    assert.equal(await lease.extend(30_000), false);
    assert.equal(await lease.release(), false);
    assert.equal(await answer.taken!.release(), true);
    const next = await backend.hold(a, aRequest({ keys: [request.key] }));
    assert.ok(next.fencingToken! > answer.taken!.fencingToken!, 'a later token is not larger');
  }),

  'evicts once, whoever asks and however often': needing(['evict'], async (backend) => {
    const [a, b] = await backend.stores();
    const request = aRequest();
    const token = (await backend.hold(a, request)).fencingToken!;
    const eviction = evictionOf(request, token);
    const first = await b.evict!(eviction);
    const again = await b.evict!(eviction);
    assert.deepEqual([first.state, again.state], ['taken', 'taken']);
    assert.notEqual((await a.evict!(evictionOf(request, token))).state, 'taken');
    assert.equal(await again.taken!.release(), true);
    assert.notEqual((await b.evict!(evictionOf(request, token))).state, 'taken');
  }),

  'evicts no later holder': needing(['evict'], async (backend) => {
    const [a, b] = await backend.stores();
    const request = aRequest();
    const first = await backend.hold(a, request);
    await first.release();
    const next = await backend.hold(a, aRequest({ keys: [request.key] }));
    const answer = await b.evict!(evictionOf(request, first.fencingToken!));
    assert.notEqual(answer.state, 'taken');
    assert.notEqual(
      (await b.askHolder!({ key: request.key, fencingToken: first.fencingToken! }, 1)).state,
      'held',
    );
    assert.equal(await next.extend(30_000), true);
  }),

  'evicts nobody from a key that is free': needing(['evict'], async (backend) => {
    const store = await backend.store();
    const request = aRequest();
    assert.equal((await store.evict!(evictionOf(request, 1n))).state, 'other');
    assert.equal(
      (await store.askHolder!({ key: request.key, fencingToken: 1n }, 1)).state,
      'other',
    );
    await backend.hold(store, request);
  }),

  'evicts no sharer': needing(['evict', 'semaphores'], async (backend) => {
    const [a, b] = await backend.stores();
    const request = aRequest({ permits: 2 });
    const lease = await backend.hold(a, request);
    const answer = await b.evict!(evictionOf(request, 1n));
    assert.equal(answer.state, 'shared');
    assert.equal(await lease.extend(30_000), true);
  }),

  'hands the key of an evicted holder to the next waiter': needing(
    ['evict', 'queue'],
    async (backend) => {
      const [a, b] = await backend.stores();
      const request = aRequest();
      const lease = await backend.hold(a, request);
      const waiting = backend.wait(b, aRequest({ keys: [request.key] }));
      const answer = await b.evict!(evictionOf(request, lease.fencingToken!));
      await answer.taken!.release();
      const next = await inTime(backend, waiting);
      assert.ok(next.fencingToken! > answer.taken!.fencingToken!, 'a later token is not larger');
      await next.release();
    },
  ),

  'tells a holder of its own store that it is asked, and lets it keep the key': needing(
    ['evict', 'observe'],
    async (backend) => {
      const store = await backend.store();
      const notices: StoreNotice[] = [];
      store.observe!((notice) => void notices.push(notice));
      const request = aRequest();
      const { key } = request;
      const lease = await backend.hold(store, request);
      const fencingToken = lease.fencingToken!;
      await store.askHolder!({ key, fencingToken }, 5_000);
      await until(() => notices.some(({ type }) => type === 'revoked'), 'the notice of the store');
      const notice = notices.find((each) => each.type === 'revoked')!;
      assert.deepEqual([notice.key, notice.grace], [key, 5_000]);
      assert.ok(notice.upTo >= fencingToken, 'the holder is not meant');
      await lease.retire?.(10_000);
      assert.equal(await store.tryAcquire(aRequest({ keys: [key] })), undefined);
      assert.equal((await store.askHolder!({ key, fencingToken }, 5_000)).state, 'held');
      assert.equal(await lease.release(), true);
    },
  ),
};

/** A waiter that asked while the key was being taken may pause before it asks again, by a clock that only the suite moves. */
async function inTime(backend: Backend, waiting: Promise<Lease>): Promise<Lease> {
  const over = waiting.then(Boolean, Boolean);
  for (let looks = 0; looks < 100; looks++)
    if (await Promise.race([over, backend.expire(20)])) break;
  return waiting;
}

function evictionOf({ key, keys }: AcquireRequest, fencingToken: bigint): EvictRequest {
  const { token, ttl } = aRequest();
  return { key, keys, token, ttl, holder: 'conformance:1:0', fencingToken };
}
