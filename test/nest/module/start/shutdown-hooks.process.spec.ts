import { ChildProcess } from '../../../support/processes/child-process.js';
import { RedisServer } from '../../../support/servers/redis-server.js';

const WARNING = 'call app.enableShutdownHooks()';

describe('An application without shutdown hooks', () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await RedisServer.start();
  });
  afterAll(() => redis.stop());

  /** What the process of an application has printed at its end. */
  async function printed(env: Record<string, string>): Promise<string> {
    await using app = new ChildProcess('test/nest/module/start/shutdown-hooks.worker.ts', {
      env: { NODE_ENV: 'production', REDIS_URL: redis.url, HOOKS: 'none', ...env },
    });
    expect(await app.exited).toEqual({ code: 0, signal: null });
    return app.output;
  }

  it('is warned at its start', async () => {
    const output = await printed({});
    expect(output).toContain(WARNING);
    expect(output.split(WARNING)).toHaveLength(2);
  });

  it.each([
    ['with them', { HOOKS: 'before' }],
    ['where they come right after its start', { HOOKS: 'after' }],
    ['in a test runner', { NODE_ENV: 'test' }],
    ['with locks in memory, which end with the process', { REDIS_URL: '' }],
  ])('is not warned %s', async (_, env) => {
    expect(await printed(env)).not.toContain(WARNING);
  });
});
