import { LockService } from 'nest-holdfast';
import { EtcdLockStore } from 'nest-holdfast/etcd';
import { rejectionOf } from '../../../core/support/outcome.js';
import { EtcdServer } from '../../../support/servers/etcd-server.js';
import { until } from '../../../support/until.js';
import type { EtcdStream } from '../../../../lib/stores/etcd/client/etcd-client.js';

const KEY = 'order:42';
/** Milliseconds. Beats are sent each third of it. */
const SESSION = 6_000;

type Kind = 'grant' | 'beat' | 'watch';

/** The next answers of this kind are replaced, so many of them. */
let lie: { readonly kind: Kind; readonly answer: unknown; times: number } | undefined;

function told(kind: Kind, real: unknown): unknown {
  if (lie?.kind !== kind || lie.times <= 0) return real;
  lie.times--;
  return lie.answer;
}

function lyingStream<S, R>(kind: Kind, stream: EtcdStream<S, R>): EtcdStream<S, R> {
  const on = stream.on.bind(stream) as (event: string, listener: (message?: R) => void) => unknown;
  stream.on = (event: string, listener: (message: R) => void) =>
    on(event, (message) => listener((event === 'data' ? told(kind, message) : message) as R));
  return stream;
}

jest.mock('../../../../lib/stores/etcd/client/open-client.js', () =>
  jest
    .requireActual<typeof import('./doctored.js')>('./doctored.js')
    .openingDoctored(({ leaseClient, watchClient }) => {
      const grant = leaseClient.leaseGrant.bind(leaseClient);
      leaseClient.leaseGrant = async (...asked) => told('grant', await grant(...asked)) as never;
      const beats = leaseClient.leaseKeepAlive.bind(leaseClient);
      leaseClient.leaseKeepAlive = async () => lyingStream('beat', await beats());
      const watch = watchClient.watch.bind(watchClient);
      watchClient.watch = async () => lyingStream('watch', await watch());
    }),
);

const VALUES = [undefined, null, 'QUEUED', [], {}];
const LEASES = [...VALUES, { ID: '7' }, { TTL: '6' }, { ID: {}, TTL: '6' }, { ID: '7', TTL: 'x' }];
const WATCHED = [...VALUES, { watch_id: '1' }, { watch_id: '1', canceled: false, events: [] }];
const named = (each: unknown) => [JSON.stringify(each) ?? 'undefined', each] as const;

describe('What etcd says of sessions and watches, and was not asked for,', () => {
  let server: EtcdServer;
  let locks: LockService;
  let other: LockService;

  beforeAll(async () => {
    server = await EtcdServer.shared();
  });

  beforeEach(() => {
    const open = () =>
      new LockService(new EtcdLockStore({ hosts: server.url }, { sessionTimeout: SESSION }));
    locks = open();
    other = open();
  });

  afterEach(async () => {
    lie = undefined;
    await locks.close();
    await other.close();
  });

  afterAll(() => server.stop());

  const isFree = () =>
    until(async () => (await other.inspect(KEY)) === undefined, { within: 10 * SESSION });

  it.each([...LEASES, { ID: '7', TTL: '0' }].map(named))('is no session: %s', async (_, answer) => {
    lie = { kind: 'grant', answer, times: Infinity };
    expect(await rejectionOf(locks.tryAcquire(KEY))).toMatchObject({
      code: 'LOCK_STORE_FAILED',
      message: expect.stringContaining('not understood'),
    });
    lie = undefined;
    expect(await (await locks.acquire(KEY)).release()).toBe(true);
    await isFree();
  });

  it.each([undefined, {}, { ID: '7' }, { ID: '7', TTL: '6' }].map(named))(
    'is no beat, and another one follows: %s',
    async (_, answer) => {
      const lock = await locks.acquire(KEY);
      lie = { kind: 'beat', answer, times: 1 };
      await until(() => lie!.times === 0);
      lie = undefined;
      await lock.extend(30_000);
      expect(lock.isHeld).toBe(true);
      expect(await lock.release()).toBe(true);
      await isFree();
    },
  );

  it('keeps no session: its locks are lost', async () => {
    const lock = await locks.acquire(KEY);
    lie = { kind: 'beat', answer: { ID: '7', TTL: '6' }, times: Infinity };
    await until(() => lock.signal.aborted, { within: 10 * SESSION });
    expect(lock.isHeld).toBe(false);
    await isFree();
  });

  it.each(WATCHED.map(named))('is no end of a wait: %s', async (_, answer) => {
    const held = await other.acquire(KEY);
    lie = { kind: 'watch', answer, times: 1 };
    const waiting = locks.acquire(KEY);
    await until(() => lie!.times === 0);
    expect(held.isHeld).toBe(true);
    expect(await held.release()).toBe(true);
    expect(await (await waiting).release()).toBe(true);
    await isFree();
  });
});
