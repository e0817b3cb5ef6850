import 'reflect-metadata';
import { Injectable } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  CurrentLock,
  DistributedLock,
  DistributedLockModule,
  type DistributedLockModuleOptions,
  type Lock,
  LockKey,
  Semaphore,
} from 'nest-holdfast';
import { Observable } from 'rxjs';
import { RedisServer } from '../../support/servers/redis-server.js';
import { until } from '../../support/until.js';
import { Deferred } from '../support/deferred.js';

/** The callers that work at the same time, in all applications of a test. */
class Floor {
  readers = 0;
  writers = 0;
  mostReaders = 0;
  readonly broken: string[] = [];
  /** How long each caller stays. */
  stays = () => new Promise((resolve) => setTimeout(resolve, 5));

  async stay(kind: 'readers' | 'writers'): Promise<void> {
    this[kind]++;
    this.mostReaders = Math.max(this.mostReaders, this.readers);
    if (this.writers > 1 || (this.writers === 1 && this.readers > 0))
      this.broken.push(`${this.writers} writers, ${this.readers} readers`);
    await this.stays();
    this[kind]--;
  }
}

const FLOOR = new Floor();

@Injectable()
class Exports {
  @Semaphore('export:<tenant>', { permits: 3 })
  async run(tenant: string) {
    await FLOOR.stay('readers');
    return tenant;
  }

  @Semaphore((o: { tenant: string }) => `export:${o.tenant}`, { permits: 2 })
  async disagree(_o: { tenant: string }) {}

  @Semaphore('stream', { permits: 1 })
  stream(): Observable<number> {
    return new Observable((subscriber) => subscriber.next(1));
  }

  @Semaphore('export:<name>', { permits: 3, waitTimeout: 0, onTimeout: 'skip' })
  async skipped(@LockKey('name') name: string, @CurrentLock() permit?: Lock) {
    return permit?.permits;
  }

  @DistributedLock('doc:<id>', { mode: 'read' })
  async read(id: string, @CurrentLock() lock?: Lock) {
    await FLOOR.stay('readers');
    return `${id} ${lock?.mode}`;
  }

  @DistributedLock('doc:<id>')
  async write(id: string) {
    await FLOOR.stay('writers');
    return id;
  }
}

async function start(options: DistributedLockModuleOptions = {}) {
  const module = await Test.createTestingModule({
    imports: [DistributedLockModule.forRoot(options)],
    providers: [Exports],
  }).compile();
  await module.init();
  return { exports: module.get(Exports), close: () => module.close() };
}

beforeEach(() => void Object.assign(FLOOR, new Floor()));

describe.each(['memory', 'Redis'])('decorated methods on %s', (kind) => {
  let redis: RedisServer | undefined;
  let apps: Awaited<ReturnType<typeof start>>[];

  beforeAll(async () => {
    redis = kind === 'Redis' ? await RedisServer.shared() : undefined;
    const options = redis ? { redis: redis.url } : {};
    apps = [await start(options)];
    if (redis) apps.push(await start(options));
  });
  afterAll(async () => {
    await Promise.all(apps.map(({ close }) => close()));
    await redis?.stop();
  });

  it('run as many at a time as there are permits', async () => {
    const runs = Array.from({ length: 12 }, (_, n) => apps[n % apps.length]!.exports.run('acme'));
    expect(await Promise.all(runs)).toEqual(Array(12).fill('acme'));
    expect(FLOOR.mostReaders).toBe(3);
  });

  it('read together, and write alone', async () => {
    const calls = Array.from({ length: 16 }, (_, n) => {
      const { exports } = apps[n % apps.length]!;
      return n % 4 === 3 ? exports.write('1') : exports.read('1');
    });
    expect((await Promise.all(calls))[0]).toBe('1 read');
    expect(FLOOR.broken).toEqual([]);
    expect(FLOOR.mostReaders).toBeGreaterThan(1);
  });

  it('say so when others have other permits', async () => {
    const done = new Deferred();
    FLOOR.stays = () => done.promise;
    const running = apps[0]!.exports.run('other');
    await until(() => FLOOR.readers === 1);
    const failure = apps.at(-1)!.exports.disagree({ tenant: 'other' });
    const expected = { code: 'LOCK_PERMITS_DIFFER', key: 'export:other', permits: 2, inUse: 3 };
    await expect(failure).rejects.toMatchObject(expected);
    done.resolve();
    await running;
  });

  it('are skipped, marked and told of their permit like locked ones', async () => {
    const { exports } = apps[0]!;
    expect(await exports.skipped('free')).toBe(3);
    const running = [1, 2, 3].map(() => exports.run('busy'));
    expect(await exports.skipped('busy')).toBeUndefined();
    await Promise.all(running);
  });

  it('keep the permit of a stream until it is unsubscribed', async () => {
    const { exports } = apps[0]!;
    const seen = await new Promise<() => void>((resolve) => {
      const subscription = exports
        .stream()
        .subscribe(() => resolve(() => subscription.unsubscribe()));
    });
    const next = new Promise<void>((resolve) => {
      const subscription = apps
        .at(-1)!
        .exports.stream()
        .subscribe(() => {
          subscription.unsubscribe();
          resolve();
        });
    });
    seen();
    await next;
  });
});

describe('@Semaphore', () => {
  it('is refused over a majority of nodes when the application starts, with the reason', async () => {
    const servers = await Promise.all([1, 2, 3].map(() => RedisServer.start()));
    const starting = start({ redis: servers.map(({ url }) => url), quarantine: false });
    await expect(starting).rejects.toMatchObject({
      code: 'LOCK_UNSUPPORTED',
      message: expect.stringContaining('majority') as unknown,
    });
    for (const server of servers) {
      const connections = async () =>
        String(await server.command('CLIENT', 'LIST', 'TYPE', 'normal'))
          .trim()
          .split('\n').length;
      await until(async () => (await connections()) === 1, {
        what: 'only this question to be connected',
      });
      await server.stop();
    }
  });

  it.each([
    [
      undefined,
      /^@Semaphore on Broken\.run: permits must be a whole number of permits from 1 .* got undefined/,
    ],
    [{}, /permits must be/],
    [{ permits: 0 }, /permits must be .* got 0/],
    [5, /^@Semaphore on Broken\.run: the options must be an object, .* got 5$/],
    [{ permits: 2, mode: 'read' }, /unknown option "mode"; known options are (?!.*mode)/],
    [{ permits: 2, tll: 1 }, /^@Semaphore on Broken\.run: unknown option "tll" \(did you mean ttl/],
    [{ permit: 2 }, /unknown option "permit" \(did you mean permits\?\)/],
  ])('refuses the options %j when the class is defined', (options, message) => {
    expect(() => {
      class Broken {
        @Semaphore('x', options as never)
        async run() {}
      }
      return Broken;
    }).toThrow(message);
  });

  it('names itself when a key names nothing', () => {
    expect(() => {
      class Broken {
        @Semaphore('x:<idd>', { permits: 2 })
        async run(_id: string) {}
      }
      return Broken;
    }).toThrow(/^@Semaphore on Broken\.run/);
  });

  it('grants every permit when locks are disabled', async () => {
    const { exports, close } = await start({ enabled: false });
    await Promise.all(Array.from({ length: 5 }, () => exports.run('acme')));
    expect(FLOOR.mostReaders).toBe(5);
    expect(await exports.read('1')).toBe('1 read');
    await close();
  });
});
