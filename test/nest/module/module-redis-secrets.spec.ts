import { inspect } from 'node:util';
import { Injectable, type LoggerService } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import {
  DistributedLockInterceptor,
  DistributedLockModule,
  type DistributedLockModuleOptions,
  LockService,
  OnElected,
} from 'nest-holdfast';
import { RedisServer } from '../../support/servers/redis-server.js';
import { until } from '../../support/until.js';

const SECRET = 'hunter2Secret';

@Injectable()
class Job {
  @OnElected('nightly', { pause: 1 })
  async run() {}
}

/** The log of an application, objects as deep as they go. */
class Log implements LoggerService {
  text = '';
  readonly log = (...said: unknown[]) => this.#add(said);
  readonly warn = (...said: unknown[]) => this.#add(said);
  readonly error = (...said: unknown[]) => this.#add(said);

  #add(said: readonly unknown[]): void {
    this.text += `${said.map(deeply).join(' ')}\n`;
  }
}

function deeply(value: unknown): string {
  return inspect(value, { depth: Infinity, showHidden: true, getters: true });
}

describe('A Redis password', () => {
  let server: RedisServer;
  let log: Log;
  let testing: TestingModule | undefined;

  beforeAll(async () => {
    server = await RedisServer.start({ args: ['--requirepass', 'another'] });
  });
  beforeEach(() => {
    log = new Log();
  });
  afterEach(async () => {
    await testing?.close();
    testing = undefined;
  });
  afterAll(() => server.stop());

  async function start(options: DistributedLockModuleOptions): Promise<TestingModule> {
    const imports = [DistributedLockModule.forRoot(options)];
    testing = await Test.createTestingModule({ imports, providers: [Job] })
      .setLogger(log)
      .compile();
    return testing.init();
  }

  it.each([
    ['a "/"', `redis://:${SECRET}/x@127.0.0.1:6379`, /^redis has a URL that cannot be read: "\/"/],
    ['a "%"', `redis://:${SECRET}%ZZ@127.0.0.1:6379`, /^redis has a URL that cannot be read/],
    ['a "#"', `redis://:${SECRET}#x@127.0.0.1:6379`, /^redis has a URL that cannot be read/],
    ['a "?"', `redis://:x?${SECRET}@127.0.0.1:6379`, /^redis has a URL that cannot be read/],
    [
      'a blank in front',
      ` redis://:${SECRET}@127.0.0.1`,
      /begin with redis:.*redis:\/\/\*\*\*@127/,
    ],
    [
      'another scheme',
      `postgres://u:${SECRET}@h/db`,
      /begin with redis:.*postgres:\/\/\*\*\*@h\/db/,
    ],
    [
      'another form',
      `h.example:6380,password=${SECRET},ssl=True`,
      /begin with redis:.*another string/,
    ],
    [
      'another form, without a port',
      `h.example,password=${SECRET}`,
      /begin with redis:.*another string/,
    ],
    ['a port that is none', `h.example:${SECRET}`, /^redis has a URL that cannot be read/],
    ['one "/" too few', `redis:/u:${SECRET}@h`, /redis must begin with redis:\/\//],
    ['quotes', `"redis://:${SECRET}@h"`, /redis must begin with redis:\/\//],
  ])('in a URL with %s is refused, and not printed', async (_, redis, message) => {
    const error = (await start({ redis }).catch((thrown: Error) => thrown)) as Error;
    expect(error).toBeInstanceOf(TypeError);
    expect(error.message).toMatch(message);
    expect(deeply(error) + log.text).not.toContain(SECRET);
  });

  it.each([
    ['a list', [`redis://:${SECRET}/x@127.0.0.1`, 'redis://127.0.0.1'], /^redis\[0\] has a URL/],
    ['a Cluster', { cluster: [`redis://:${SECRET}/x@127.0.0.1`] }, /^redis.cluster\[0\] has a URL/],
    ['a function', () => `redis://:${SECRET}@h` as never, /redis must return a client/],
  ])('in a URL of %s is not printed either', async (_, redis, message) => {
    const starting = start({ redis });
    const error = (await starting.catch((thrown: Error) => thrown)) as Error;
    expect(error.message).toMatch(message);
    expect(deeply(error) + log.text).not.toContain(SECRET);
  });

  it.each([
    ['{ store: url }', { store: `redis://:${SECRET}@h` }],
    ['an unknown option', { [`redis://:${SECRET}@h`]: 1 }],
    ['a client in place of options', { redis: [`redis://:${SECRET}@127.0.0.1`, 5] }],
  ])('in %s is not printed', async (_, options) => {
    const error = await start(options as never).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(TypeError);
    expect(deeply(error) + log.text).not.toContain(SECRET);
  });

  it('that the server refuses is in no log, no error and no object of ours', async () => {
    const app = await start({ redis: `redis://:${SECRET}@127.0.0.1:${server.port}` });
    const locks = app.get(LockService);
    const told: unknown[] = [locks, app.get(DistributedLockModule)];
    told.push(app.get(DistributedLockInterceptor));
    for (const ask of [() => locks.acquire('a'), () => locks.inspect('a')]) {
      const error = await ask().catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({
        code: 'LOCK_STORE_FAILED',
        message: expect.stringContaining('WRONGPASS'),
        cause: { message: expect.stringContaining('WRONGPASS') },
      });
      told.push(error);
    }
    await until(() => /LeaderElection/.test(log.text) && /Redis: WRONGPASS/.test(log.text));
    expect(told.map(deeply).join('\n') + log.text).not.toContain(SECRET);
  });

  it('that a server without passwords repeats is hidden', async () => {
    const old = await RedisServer.start({
      args: ['--rename-command', 'HELLO', '', '--rename-command', 'AUTH', ''],
    });
    try {
      const app = await start({ redis: `redis://u:${SECRET}@127.0.0.1:${old.port}` });
      const error = await app
        .get(LockService)
        .acquire('a')
        .catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ message: expect.stringMatching(/unknown command.*AUTH/i) });
      await until(() => /Redis: ERR unknown command/.test(log.text));
      expect(deeply(error) + log.text).not.toContain(SECRET);
    } finally {
      await old.stop();
    }
  });
});
