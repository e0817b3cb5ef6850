import type { Lease } from 'nest-holdfast';
import { inTime } from '../../../support/faults/in-time.js';
import { nothingLeft } from '../../../support/faults/left-behind.js';
import { RedisServer } from '../../../support/servers/redis-server.js';
import { TcpProxy } from '../../../support/processes/tcp-proxy.js';
import { until } from '../../../support/until.js';
import { standing } from '../../support/app-instance.js';
import { aRequest } from '../locks.js';
import { SharingProcess, aPermit, aReader } from './sharers.js';
import { lineLength } from '../../../support/redis-line.js';

const KEY = 'doc:1';
const SHARERS = `{lock:${KEY}}:shared`;

/** No ttl passes meanwhile. */
const isValid = () => true;

/** The server knows the scripts afterwards, so that none is sent twice for another reason. */
async function warmUp(process: SharingProcess): Promise<void> {
  await (await process.take(aReader('warm-up'))).release();
  const writer = await process.take(aRequest('warm-up'));
  await writer.downgrade!();
  await writer.extend(30_000);
  await writer.release();
}

describe('When a reply about a lock that several share is lost', () => {
  let server: RedisServer;
  let proxy: TcpProxy;
  let near: SharingProcess;
  let far: SharingProcess;

  beforeAll(async () => {
    server = await RedisServer.start();
  });

  beforeEach(async () => {
    await server.command('FLUSHALL');
    proxy = await TcpProxy.start(server.port);
    near = new SharingProcess(server.url);
    far = new SharingProcess(proxy.url);
    far.store.observe(() => {}); // as a service does: it knows which server it talks to
    await warmUp(far);
  });

  afterEach(async () => {
    await Promise.all([near, far].map((each) => each[Symbol.asyncDispose]()));
    await proxy.stop();
  });

  afterAll(() => server.stop());

  const sharers = async () => Number(await server.command('ZCARD', SHARERS));

  /** The reply of `ask` gets lost after `isDone`; ioredis connects again, and sends the command again. */
  async function sentTwice<T>(ask: () => Promise<T>, isDone: () => Promise<unknown>): Promise<T> {
    proxy.replies.drop();
    const answer = ask();
    await until(isDone);
    proxy.pass();
    proxy.cutAll();
    return answer;
  }

  it.each([
    ['a reader', aReader(KEY), aReader(KEY)],
    ['one of two permits', aPermit(2, KEY), aPermit(2, KEY)],
  ])('%s that is sent again has it once', async (_, own, others) => {
    const other = await near.take(others);
    const lease = await sentTwice(
      () => far.take(own),
      async () => (await sharers()) === 2,
    );
    expect(await sharers()).toBe(2);
    expect(await lease.extend(30_000)).toBe(true);
    for (const each of [lease, other]) expect(await each.release()).toBe(true);
    await nothingLeft(server);
  });

  it('an attempt that is given up is taken back', async () => {
    far.redis.options.maxRetriesPerRequest = 0;
    const failed = expect(
      sentTwice(
        () => far.take(aReader(KEY)),
        async () => (await sharers()) === 1,
      ),
    ).rejects.toThrow();
    await failed;
    await nothingLeft(server);
  });

  it.each([
    ['the last one', []],
    ['not the last one', [aReader(KEY)]],
  ])('a release of %s is no loss', async (_, others) => {
    for (const other of others) await near.take(other);
    const lease = await far.take(aReader(KEY));
    const released = sentTwice(
      () => lease.release(isValid),
      async () => (await sharers()) === others.length,
    );
    expect(await released).toBe(true);
  });

  it('many releases are no loss, though many have come and gone before, and some since', async () => {
    const pass = async () => (await near.take(aReader(KEY))).release();
    for (let earlier = 0; earlier < 300; earlier += 1) await pass();
    const leases = await Promise.all(Array.from({ length: 60 }, () => far.take(aReader(KEY))));
    const released = await sentTwice(
      () => Promise.all(leases.map((lease) => lease.release(isValid))),
      async () => (await sharers()) === 0 && Promise.all(Array.from({ length: 5 }, pass)),
    );
    expect(released).toEqual(leases.map(() => true));
    await nothingLeft(server);
  });

  it('a release that hands the lock to a writer in line is no loss', async () => {
    const lease = await far.take(aReader(KEY));
    let got = false;
    const waiting = near.wait(aRequest(KEY)).then((next) => ((got = true), next));
    await standing(server, KEY, 1);
    const released = sentTwice(
      () => lease.release(isValid),
      async () => got,
    );
    expect(await released).toBe(true);
    const writer = await waiting;
    const seen = (await near.store.inspect(KEY))!;
    expect(seen.fencingToken).toBeGreaterThanOrEqual(writer.fencingToken!);
    expect(await writer.release()).toBe(true);
    await nothingLeft(server);
  });

  it('a release is a loss where the ttl had passed', async () => {
    const lease = await far.take(aReader(KEY, 30));
    const others = await near.take(aReader(KEY));
    await until(async () => (await near.store.inspect(KEY))!.holders!.length === 1);
    expect(await lease.release()).toBe(false);
    expect(await others.release()).toBe(true);
  });

  it('a wake-up is found with the next sign of life', async () => {
    const writer = await near.take(aRequest(KEY));
    const waiting = far.wait(aReader(KEY));
    await standing(server, KEY, 1);
    await far.redis.ping(); // the reply about its place has come
    proxy.replies.drop();
    await writer.release();
    await until(
      async () => (await lineLength((...words) => server.command(...words), `lock:${KEY}`)) === 0,
    );
    proxy.pass();
    const lease = await inTime(1_500, waiting);
    expect(await lease.release()).toBe(true);
    await nothingLeft(server);
  });

  it('the claim of one who waited becomes a lock once', async () => {
    const other = await near.take(aPermit(2, KEY));
    const first = await near.take(aPermit(2, KEY));
    const waiting = far.store.acquire!(aPermit(2, KEY), new AbortController().signal);
    await standing(server, KEY, 1);
    await first.release();
    const claim = await waiting;
    const isExtended = async () => Number(await server.command('PTTL', `lock:${KEY}`)) > 40_000;
    expect(await sentTwice(() => claim.extend(50_000), isExtended)).toBe(true);
    for (const each of [claim, other]) expect(await each.release()).toBe(true);
    await nothingLeft(server);
  });

  it('of a downgrade, the writer is a reader', async () => {
    const writer = await far.take(aRequest(KEY));
    const isReader = async () => (await sharers()) === 1;
    expect(await sentTwice(() => writer.downgrade!(), isReader)).toBe(true);
    expect(await sharers()).toBe(1);
    expect(await writer.release()).toBe(true);
    await nothingLeft(server);
  });

  it.each<[string, (lease: Lease) => Promise<boolean>]>([
    ['extended', (lease) => lease.extend(30_000)],
    ['released', (lease) => lease.release()],
  ])('of a downgrade that failed, the lock is %s whatever it is', async (_, use) => {
    for (const arrives of [true, false]) {
      const writer = await far.take(aRequest(KEY));
      const { bytes } = proxy.requests;
      far.redis.options.maxRetriesPerRequest = 0;
      if (arrives) proxy.replies.drop();
      else proxy.requests.drop();
      const failed = expect(writer.downgrade!()).rejects.toThrow();
      if (arrives) await until(async () => (await sharers()) === 1);
      else await until(() => proxy.requests.bytes > bytes);
      proxy.pass();
      proxy.cutAll();
      await failed;
      far.redis.options.maxRetriesPerRequest = 20;
      expect(await use(writer)).toBe(true);
      await writer.release();
      await nothingLeft(server);
    }
  });
});
