import type { Lease } from 'nest-holdfast';
import { inTime } from '../../../support/faults/in-time.js';
import { nothingLeft } from '../../../support/faults/left-behind.js';
import { RedisServer } from '../../../support/servers/redis-server.js';
import { until } from '../../../support/until.js';
import { AppInstance, standing } from '../../support/app-instance.js';
import { aRequest } from '../locks.js';
import { Line, SharingProcess, aPermit, aReader } from './sharers.js';
import { ServerLog } from '../../support/server-log.js';

/** Milliseconds that a place may stay unused after its owner's ttl: less than the time between two heartbeats. */
const SLACK = 1_000;

describe('The line for a lock on Redis that several may share', () => {
  let server: RedisServer;
  let a: SharingProcess;
  let b: SharingProcess;
  let c: SharingProcess;
  let line: Line;

  beforeAll(async () => {
    server = await RedisServer.shared();
  });

  beforeEach(async () => {
    await server.command('FLUSHALL');
    [a, b, c] = [1, 2, 3].map(() => new SharingProcess(server.url)) as [
      SharingProcess,
      SharingProcess,
      SharingProcess,
    ];
    line = new Line(server, 'doc:1');
  });

  afterEach(() => Promise.all([a, b, c].map((each) => each[Symbol.asyncDispose]())));

  afterAll(() => server.stop());

  /** The values that were woken since the last call. */
  async function wokenIn(log: ServerLog): Promise<string[]> {
    const texts = (await log.take('publish')).map(([, , text]) => text!);
    return texts.filter((text) => !text.startsWith('!'));
  }

  it('honours readers and writers of all processes in the order in which they came', async () => {
    const first = await c.take(aRequest('doc:1'));
    await using log = await ServerLog.of(server);
    await line.join('R1', a, aReader('doc:1'));
    await line.join('R2', b, aReader('doc:1'));
    await line.join('W3', a, aRequest('doc:1'));
    await line.join('R4', b, aReader('doc:1'));
    await line.join('R5', a, aReader('doc:1'));
    await line.join('W6', b, aRequest('doc:1'));
    expect(await wokenIn(log)).toEqual([]);

    await first.release();
    await line.reached('R1', 'R2');
    await line.release('R1');
    await line.release('R2');
    await line.reached('R1', 'R2', 'W3');
    await line.release('W3');
    await line.reached('R1', 'R2', 'W3', 'R4', 'R5');
    await line.release('R5');
    await line.release('R4');
    await line.reached('R1', 'R2', 'W3', 'R4', 'R5', 'W6');
    await line.release('W6');
    const woken = await wokenIn(log);
    expect(woken).toHaveLength(6); // one each
    expect(new Set(woken).size).toBe(6);
    await nothingLeft(server);
  });

  it('starves no writer: readers who come after it stand behind it', async () => {
    let readers = [await a.take(aReader('doc:1')), await b.take(aReader('doc:1'))];
    await line.join('writer', c, aRequest('doc:1'));
    for (let round = 0; round < 5; round += 1) {
      expect(await a.store.tryAcquire(aReader('doc:1'))).toBeUndefined();
      for (const reader of readers) expect(await reader.extend(30_000)).toBe(true); // lets no writer in
    }
    await line.join('late', b, aReader('doc:1'));
    for (const reader of readers) await reader.release();
    await line.reached('writer');
    await line.release('writer');
    await line.reached('writer', 'late');
    readers = [await a.take(aReader('doc:1'))];
    await line.release('late');
    await readers[0]!.release();
    await nothingLeft(server);
  });

  it('gives each permit that is given back to the first in line, who alone is woken', async () => {
    const held = [await a.take(aPermit(2, 'doc:1')), await b.take(aPermit(2, 'doc:1'))];
    for (const [index, name] of ['1', '2', '3', '4'].entries())
      await line.join(name, [a, b, c][index % 3]!, aPermit(2, 'doc:1'));
    await using log = await ServerLog.of(server);
    const order = ['1', '2', '3', '4'];
    const release = [() => held[0]!.release(), () => held[1]!.release(), () => line.release('1'), () => line.release('2')]; // prettier-ignore
    for (const [index, giveBack] of release.entries()) {
      await giveBack();
      await line.reached(...order.slice(0, index + 1));
      expect(await wokenIn(log)).toHaveLength(1);
      expect(await server.command('ZCARD', '{lock:doc:1}:shared')).toBe(2);
    }
    expect(line.held).toEqual(order);
    for (const name of ['3', '4']) await line.release(name);
    expect(await wokenIn(log)).toEqual([]);
    await nothingLeft(server);
  });

  it('never has more inside than there are permits, of all processes together', async () => {
    let inside = 0;
    let most = 0;
    let gathered!: () => void;
    const areGathered = new Promise<void>((resolve) => (gathered = resolve));
    const worker = async (process: SharingProcess) => {
      for (let cycle = 0; cycle < 8; cycle += 1) {
        const lease = await process.wait(aPermit(3, 'doc:1'));
        most = Math.max(most, ++inside);
        if (most === 3) gathered();
        await areGathered;
        inside -= 1;
        expect(await lease.release()).toBe(true);
      }
    };
    await Promise.all([a, b, c, a, b, c, a, b].map(worker));
    expect(most).toBe(3);
    await nothingLeft(server);
  });

  it.each([
    ['a writer, when the last reader has', aRequest('doc:1'), [aReader('doc:1', 400)]],
    ['a reader behind a writer that has', aReader('doc:1'), [aRequest('doc:1', 400)]],
    ['the next one, when one of two has', aPermit(2, 'doc:1'), [aPermit(2, 'doc:1', 400), aPermit(2, 'doc:1')]], // prettier-ignore
  ])('lets %s crashed, in within the ttl', async (_, next, held) => {
    for (const request of held) await a.take(request);
    const granted = await inTime(400 + SLACK, b.wait(next));
    expect(await granted.release()).toBe(true);
  });

  it('lets a writer in when a reader that was extended until then crashes, within its ttl', async () => {
    const ttl = 3_600; // a machine that stands still for two seconds does not lose it
    await using own = new AppInstance(server.url, { ttl });
    const sent = jest.spyOn(own.redis, 'evalsha');
    await own.locks.acquire('doc:1', { mode: 'read' });
    const writing = b.wait(aRequest('doc:1'));
    await until(() => sent.mock.calls.length > 2); // one for the lock, and two extensions
    expect(await server.command('GET', 'lock:doc:1')).toBe('*inf');
    own.redis.disconnect();
    const writer = await inTime(ttl + SLACK, writing);
    expect(await writer.release()).toBe(true);
  });

  it('passes readers over whose process has died, when the writer before them releases', async () => {
    const writer = await a.take(aRequest('doc:1'));
    await line.join('dead', b, aReader('doc:1'));
    await line.join('alive', c, aReader('doc:1'));
    b.redis.disconnect();
    await until(
      async () => ((await server.command('PUBSUB', 'CHANNELS')) as string[]).length === 1,
    );
    await writer.release();
    await inTime(1_000, line.reached('alive'));
    await line.release('alive');
  });

  it('passes a writer over whose process has died, when its heartbeat has ended', async () => {
    const reader = await a.take(aReader('doc:1'));
    await line.join('dead', b, aRequest('doc:1'));
    await line.join('alive', c, aReader('doc:1'));
    b.redis.disconnect();
    await inTime(2_000 + SLACK, line.reached('alive'));
    await line.release('alive');
    await reader.release();
    await nothingLeft(server);
  });

  it('gives what a reader was handed, who never answers, to those behind it after its claim', async () => {
    const writer = await a.take(aRequest('doc:1'));
    const silent = b.store.acquire!(aReader('doc:1'), new AbortController().signal);
    await standing(server, 'doc:1', 1);
    const next = c.wait(aRequest('doc:1'));
    await standing(server, 'doc:1', 2);
    await writer.release();
    const claim: Lease = await silent; // is not extended
    const lease = await inTime(1_000 + SLACK, next);
    expect(await claim.extend(30_000)).toBe(false);
    expect(await lease.release()).toBe(true);
    await nothingLeft(server);
  });

  it('lets those behind one who gives up in, and forgets him', async () => {
    const reader = await a.take(aReader('doc:1'));
    const cancel = new AbortController();
    const reason = new Error('enough');
    const writer = b.wait(aRequest('doc:1'), cancel.signal);
    await standing(server, 'doc:1', 1);
    const readers = [a, c].map((each) => each.wait(aReader('doc:1')));
    await standing(server, 'doc:1', 3);
    cancel.abort(reason);
    await expect(writer).rejects.toBe(reason);
    for (const lease of await inTime(1_000, Promise.all(readers))) await lease.release(); // before a beat
    expect(await reader.release()).toBe(true);
    await nothingLeft(server);
  });

  it('is served after the last reader crashed, before a writer who only tries', async () => {
    const before = await a.take(aRequest('doc:1'));
    await before.release(); // its counter shows an empty line
    await a.take(aReader('doc:1'));
    const waiting = b.wait(aRequest('doc:1'));
    await standing(server, 'doc:1', 1);
    await server.command('DEL', 'lock:doc:1'); // as if its ttl had passed
    expect(await c.store.tryAcquire(aRequest('doc:1'))).toBeUndefined();
    expect(await (await waiting).release()).toBe(true);
  });
});
