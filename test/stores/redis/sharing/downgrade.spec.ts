import { LockService } from 'nest-holdfast';
import { nothingLeft } from '../../../support/faults/left-behind.js';
import { RedisServer } from '../../../support/servers/redis-server.js';
import { standing } from '../../support/app-instance.js';
import { aRequest } from '../locks.js';
import { Line, SharingProcess, aReader } from './sharers.js';

describe('A writer on Redis that becomes a reader', () => {
  let server: RedisServer;
  let a: SharingProcess;
  let b: SharingProcess;
  let line: Line;

  beforeAll(async () => {
    server = await RedisServer.shared();
  });

  beforeEach(async () => {
    await server.command('FLUSHALL');
    [a, b] = [new SharingProcess(server.url), new SharingProcess(server.url)];
    line = new Line(server, 'doc:1');
  });

  afterEach(() => Promise.all([a, b].map((each) => each[Symbol.asyncDispose]())));

  afterAll(() => server.stop());

  it('lets the readers in who stand first, and no writer, nor those behind it', async () => {
    const writer = await a.take(aRequest('doc:1'));
    await line.join('R1', b, aReader('doc:1'));
    await line.join('R2', a, aReader('doc:1'));
    await line.join('W3', b, aRequest('doc:1'));
    await line.join('R4', a, aReader('doc:1'));
    expect(await writer.downgrade!()).toBe(true);
    await line.reached('R1', 'R2');
    await line.release('R1');
    await line.release('R2');
    expect(await writer.extend(30_000)).toBe(true);
    await line.reached('R1', 'R2');
    expect(await writer.release()).toBe(true);
    await line.reached('R1', 'R2', 'W3');
    await line.release('W3');
    await line.reached('R1', 'R2', 'W3', 'R4');
    await line.release('R4');
    await nothingLeft(server);
  });

  it('keeps the rest of its ttl, and has no fencing token; the next writer has a larger one', async () => {
    const writer = await a.take(aRequest('doc:1', 20_000));
    const fence = writer.fencingToken!;
    expect(await writer.downgrade!()).toBe(true);
    expect(await writer.downgrade!()).toBe(true);
    expect(writer.fencingToken).toBeUndefined();
    expect(writer.handOff!(30_000, true)).toBeUndefined();
    const pttl = Number(await server.command('PTTL', 'lock:doc:1'));
    expect(pttl).toBeGreaterThan(10_000);
    expect(pttl).toBeLessThanOrEqual(20_000);
    expect(await server.command('GET', 'lock:doc:1')).toBe('*inf');
    expect(await writer.release()).toBe(true);
    expect(await writer.release()).toBe(false);
    expect((await b.take(aRequest('doc:1'))).fencingToken).toBeGreaterThan(fence);
  });

  it('is one of several keys alike, or of none', async () => {
    const writer = await a.take(aRequest(['doc:1', 'doc:2']));
    expect(await writer.downgrade!()).toBe(true);
    const reader = await b.take(aReader(['doc:1', 'doc:2', 'doc:3']));
    expect(await writer.release()).toBe(true);
    expect(await reader.release()).toBe(true);

    const another = await a.take(aRequest(['doc:1', 'doc:2']));
    await server.command('DEL', 'lock:doc:2');
    expect(await another.downgrade!()).toBe(false);
    expect(await b.store.tryAcquire(aReader('doc:1'))).toBeUndefined();
    expect(await another.release()).toBe(false);
    await nothingLeft(server);
  });

  it('is none where it was lost, or released', async () => {
    const writer = await a.take(aRequest('doc:1'));
    await server.command('SET', 'lock:doc:1', 'foreign');
    expect(await writer.downgrade!()).toBe(false);
    expect(await writer.release()).toBe(false);
    expect(await server.command('GET', 'lock:doc:1')).toBe('foreign');
  });

  it('is none where another client has made its lock eternal, and those in line wait on', async () => {
    const writer = await a.take(aRequest('doc:1'));
    await server.command('PERSIST', 'lock:doc:1');
    await line.join('next', b, aRequest('doc:1'));
    expect(await writer.downgrade!()).toBe(false);
    await b.redis.ping(); // a wake-up would have come before
    expect(line.held).toEqual([]);
    await standing(server, 'doc:1', 1);
    expect(await writer.release()).toBe(true);
    await line.reached('next');
    await line.release('next');
  });

  it('may have been handed off before, inside the process or by the server', async () => {
    const service = new LockService(a.store);
    const first = await service.acquire('doc:1');
    const inside = service.acquire('doc:1');
    const elsewhere = b.wait(aRequest('doc:1'));
    await standing(server, 'doc:1', 1);
    await first.release();
    const second = await inside;
    await second.downgrade();
    expect(second.mode).toBe('read');
    await second.extend(30_000);
    expect(await server.command('GET', 'lock:doc:1')).toBe('*inf');
    expect(await second.release()).toBe(true);

    const third = await elsewhere;
    expect(await third.downgrade!()).toBe(true);
    const reader = await a.take(aReader('doc:1'));
    expect(await third.release()).toBe(true);
    expect(await reader.release()).toBe(true);
    await service.close();
    await nothingLeft(server);
  });
});
