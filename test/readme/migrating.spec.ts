import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Test } from '@nestjs/testing';
import { LockService } from 'nest-holdfast';
import { OwnClient } from '../stores/redis/locks.js';
import { RedlockNodes } from '../stores/redlock/support/nodes.js';
import { RedisServer } from '../support/servers/redis-server.js';
import { asModule } from './support/as-module.js';
import { readPage } from './support/markdown.js';
import { OTHER_LIBRARIES, ownLocks } from './support/other-libraries.js';

const KEY = 'order:42';
const page = readPage('docs/migrating.md');

describe.each(OTHER_LIBRARIES)('beside $name', ({ row, keyPrefix, servers, connect }) => {
  let nodes: RedlockNodes;
  let clients: OwnClient[];
  let own: ReturnType<typeof ownLocks>;
  let other: ReturnType<typeof connect>;

  beforeAll(async () => {
    nodes = await RedlockNodes.start(servers);
    const connectAll = () => nodes.servers.map(({ url }) => new OwnClient(url));
    const [ours, theirs] = [connectAll(), connectAll()];
    clients = [...ours, ...theirs];
    own = ownLocks(
      ours.map(({ redis }) => redis),
      keyPrefix,
    );
    other = connect(theirs.map(({ redis }) => redis));
  });

  afterAll(async () => {
    await own.close();
    for (const client of clients) await client[Symbol.asyncDispose]();
    await nodes[Symbol.asyncDispose]();
  });

  it('has its prefix on the page', () => {
    const cells = page.prose.split('\n').map((line) => line.split(/ *\| */).slice(1, -1));
    const [, key, prefix] = cells.find(([name]) => name === row)!;
    expect(key).toBe(`\`${keyPrefix}${KEY}\``);
    expect(prefix).toContain(`\`'${keyPrefix}'\``);
  });

  it('is refused while the other side holds the key', async () => {
    const theirs = await other.hold(KEY);
    expect(await own.tryAcquire(KEY)).toBeUndefined();
    await expect(own.acquire(KEY, { waitTimeout: 0 })).rejects.toThrow('is held');
    await theirs.release();
    const ours = await own.acquire(KEY);
    expect(await ours.release()).toBe(true);
  });

  it('has the other side refused while it holds the key, which only it can free', async () => {
    const theirs = await other.hold(KEY);
    await theirs.release();
    const ours = await own.acquire(KEY);
    await expect(other.hold(KEY)).rejects.toThrow();
    await theirs.release().catch(() => {}); // once more: redlock rejects, redis-semaphore does not
    await expect(other.hold(KEY)).rejects.toThrow();
    expect(await ours.release()).toBe(true);
    await (await other.hold(KEY)).release();
  });

  it('waits for the other side, and gets the key after its release', async () => {
    const theirs = await other.hold(KEY);
    const waiting = new Promise((resolve) => own.events.once('waiting', resolve));
    const ours = own.acquire(KEY, { waitTimeout: 60_000 });
    await waiting;
    await theirs.release();
    await (await ours).release();
  });

  it('never works at the same time', async () => {
    let inside = 0;
    const most: number[] = [];
    const work = async () => {
      most.push(++inside);
      await new Promise((resolve) => setImmediate(resolve));
      inside--;
    };
    const ours = async () => {
      for (let i = 0; i < 20; i++) await own.withLock(KEY, { waitTimeout: 60_000 }, work);
    };
    const theirs = async () => {
      for (let i = 0; i < 20; i++) await other.wait(KEY, work);
    };
    await Promise.all([ours(), theirs()]);
    expect(most).toEqual(Array.from({ length: 40 }, () => 1));
  });

  it('holds the same key as the other side where the prefix is not the same', async () => {
    const elsewhere = ownLocks(clients.map(({ redis }) => redis).slice(0, servers), 'elsewhere:');
    const theirs = await other.hold(KEY);
    expect(await (await elsewhere.acquire(KEY)).release()).toBe(true);
    await theirs.release();
    await elsewhere.close();
  });
});

describe('the module of docs/migrating.md', () => {
  it('excludes redlock, and is excluded', async () => {
    const server = await RedisServer.shared();
    process.env['REDIS_URL'] = server.url;
    const directory = mkdtempSync(join(__dirname, 'blocks-')); // inside the project, so that imports resolve as a user's do
    const file = join(directory, 'app.ts');
    writeFileSync(file, asModule(page.blocks[0]!, server.url));
    const { run } = (await import(file)) as {
      run: (given: object) => Promise<{ AppModule: new () => unknown }>;
    };
    const { AppModule } = await run({});
    const app = await Test.createTestingModule({ imports: [AppModule] }).compile();
    await using client = new OwnClient(server.url);
    const redlock = OTHER_LIBRARIES[0]!.connect([client.redis]);

    const theirs = await redlock.hold(KEY);
    expect(await app.get(LockService).tryAcquire(KEY)).toBeUndefined();
    await theirs.release();
    await app.get(LockService).withLock(KEY, async () => {
      await expect(redlock.hold(KEY)).rejects.toThrow();
    });

    await app.close();
    delete process.env['REDIS_URL'];
    rmSync(directory, { recursive: true, force: true });
    await server.stop();
  });
});
