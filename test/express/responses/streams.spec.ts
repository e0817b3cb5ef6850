import { AsyncLocalStorage } from 'node:async_hooks';
import { createReadStream } from 'node:fs';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Response } from 'express';
import { LockLostError } from 'nest-holdfast/core';
import { lockRequest } from 'nest-holdfast/express';
import { until } from '../../support/until.js';
import { controlledApp } from '../support/controlled-app.js';
import { VERSIONS } from '../support/express-app.js';
import { Served } from '../support/served.js';

/** More than fits into the buffers between two ends of a connection. */
const LARGE = 32 * 1024 * 1024;

let directory: string;
let largeFile: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-streams-'));
  largeFile = join(directory, 'large');
  await using file = await open(largeFile, 'w');
  await file.truncate(LARGE);
});

afterAll(() => rm(directory, { recursive: true, force: true }));

const signalOf = (response: Response) => response.locals['lockSignal'] as AbortSignal;

describe.each(VERSIONS)('a streaming response of $version', ({ express }) => {
  it('holds the lock from its first write to its last', async () => {
    const { app, control, locks } = controlledApp(express);
    let written!: Response;
    app.get('/', lockRequest('a', { locks }), (_request, response) => {
      written = response;
      response.write('one ');
    });
    await using served = await Served.start(app);
    const wire = await served.connect();
    wire.send('/');
    await wire.until('one ');
    expect(control.held()).toEqual(['a']);
    written.write('two ');
    await wire.until('two ');
    expect(control.held()).toEqual(['a']);
    written.end('three');
    await wire.until('three');
    await until(() => control.held().length === 0);
    expect(signalOf(written).aborted).toBe(false);
  });

  it('holds it while a file goes to a client that reads slowly', async () => {
    const { app, control, locks } = controlledApp(express);
    let sent!: Response;
    app.get('/', lockRequest('a', { locks }), (_request, response, next) => {
      sent = response;
      pipeline(createReadStream(largeFile), response, { signal: signalOf(response) }).catch(next);
    });
    await using served = await Served.start(app);
    const wire = await served.connect();
    wire.pause();
    wire.send('/');
    await control.untilHeld('a');
    const meanwhile = locks.withLock('a', { waitTimeout: 50 }, () => {});
    await expect(meanwhile).rejects.toThrow('within 50 ms');
    expect(sent.writableFinished).toBe(false);
    wire.resume();
    expect(await locks.withLock('a', () => sent.writableFinished)).toBe(true);
    await until(() => wire.received.length > LARGE);
    expect(signalOf(sent).aborted).toBe(false);
  });

  it('frees it when the client goes away in the middle of a file, which is closed', async () => {
    const { app, control, locks } = controlledApp(express);
    const file = createReadStream(largeFile);
    const failed = new Promise<Error>((resolve) => {
      app.get('/', lockRequest('a', { locks }), (_request, response) => {
        pipeline(file, response, { signal: signalOf(response) }).catch(resolve);
      });
    });
    await using served = await Served.start(app);
    const wire = await served.connect();
    wire.pause();
    wire.send('/');
    await control.untilHeld('a');
    wire.destroy();
    await failed;
    expect(file.destroyed).toBe(true);
    await until(() => control.held().length === 0);
  });

  it('SSE: the signal stops the work when the client goes away', async () => {
    const { app, control, locks } = controlledApp(express);
    let signal!: AbortSignal;
    async function* events() {
      for (let n = 1; !signal.aborted; n++) {
        yield `data: ${n}\n\n`;
        await new Promise(setImmediate);
      }
    }
    const ended = jest.fn();
    app.get('/', lockRequest('a', { locks }), (_request, response) => {
      signal = signalOf(response);
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      const feed = Readable.from(events()).once('close', ended);
      signal.addEventListener('abort', () => feed.destroy(), { once: true });
      feed.pipe(response);
    });
    await using served = await Served.start(app);
    const wire = await served.connect();
    wire.send('/');
    await wire.until('data: 3');
    expect(control.held()).toEqual(['a']);
    expect(signal.aborted).toBe(false);
    wire.destroy();
    await until(() => ended.mock.calls.length > 0);
    expect(signal.reason.name).toBe('AbortError');
    await until(() => control.held().length === 0);
  });

  it('the signal also tells of a lock that is lost, and of an outer one', async () => {
    const { app, control, locks } = controlledApp(express);
    let signal!: AbortSignal;
    const locked = [lockRequest('outer', { locks }), lockRequest('inner', { locks })];
    app.get('/', ...locked, (_request, response) => {
      signal = signalOf(response);
      signal.addEventListener('abort', () => response.end('stopped'), { once: true });
      response.write('begun ');
    });
    await using served = await Served.start(app);
    const wire = await served.connect();
    wire.send('/');
    await wire.until('begun ');
    control.lose('outer');
    await wire.until('stopped');
    expect(signal.reason).toBeInstanceOf(LockLostError);
    expect(signal.reason.key).toBe('outer');
    await until(() => control.held().length === 0);
  });

  it('tells of its end in the root context, by either end', async () => {
    const { app, locks } = controlledApp(express);
    const request = new AsyncLocalStorage<string>();
    let first!: Response;
    const heard: unknown[] = [];
    app.use((req, _response, next) => request.run(req.path, next));
    app.get('/first', lockRequest('a', { locks }), (_request, response) => {
      first = response;
      signalOf(response).addEventListener('abort', () =>
        heard.push([request.getStore(), locks.current()?.key]),
      );
      response.write('begun ');
    });
    app.get('/second', lockRequest('b', { locks }), (_request, response) => {
      first.destroy();
      response.end('done');
    });
    await using served = await Served.start(app);
    const [one, other] = [await served.connect(), await served.connect()];
    one.send('/first');
    await one.until('begun ');
    other.send('/second');
    await other.until('done');
    await until(() => heard.length > 0);
    expect(heard).toEqual([[undefined, undefined]]);
  });

  it('work in withLock has the lock although the client goes away', async () => {
    const { app, control, locks } = controlledApp(express);
    let finish!: (value: string) => void;
    const paying = new Promise<string>((resolve) => (finish = resolve));
    const paid = jest.fn();
    app.post('/', lockRequest('a', { locks }), (_request, response, next) => {
      const work = locks.withLock('a', { reentrant: true }, async (lock) => {
        await paying;
        lock.assertHeld();
        paid();
      });
      work.then(() => response.end(), next);
    });
    await using served = await Served.start(app);
    const wire = await served.connect();
    wire.send('POST /');
    await control.untilHeld('a');
    wire.destroy();
    await served.untilAlone();
    expect(control.held()).toEqual(['a']);
    finish('paid');
    await until(() => paid.mock.calls.length > 0);
    await until(() => control.held().length === 0);
  });
});
