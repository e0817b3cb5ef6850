import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { LockService, RedisLockStore } from 'nest-holdfast/core';
import { RedisServer } from '../../support/servers/redis-server.js';
import { holdfast, objectsOf } from '../support/holdfast.js';

describe('the settings of the command line', () => {
  let folder: string;
  let server: RedisServer;
  let client: Redis;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'holdfast-settings-'));
    server = await RedisServer.shared();
    client = new Redis(server.url);
  });
  afterAll(async () => {
    await client.quit();
    await rm(folder, { recursive: true, force: true });
  });

  const write = (text: string) => writeFile(join(folder, 'holdfast.config.mjs'), text);
  const failure = async (...args: string[]) => {
    const { code, stderr } = await holdfast(args, { cwd: folder });
    expect(code).toBe(64);
    return stderr;
  };

  it('come from flags, then from the environment, then from the file', async () => {
    const services = ['flag:', 'env:', 'file:'].map(
      (keyPrefix) => new LockService(new RedisLockStore(client, { keyPrefix })),
    );
    const [byFlag, byEnv, byFile] = await Promise.all(services.map((each) => each.acquire('k')));
    await write(`export default { store: '${server.url}', prefix: 'file:', storeTimeout: '9s' };`);
    const tokenBy = async (env: Record<string, string>, ...flags: string[]) => {
      const { stdout } = await holdfast(['inspect', 'k', '--json', ...flags], { cwd: folder, env });
      return objectsOf(stdout)[0]?.['fencingToken'];
    };
    const env = { HOLDFAST_PREFIX: 'env:' };
    expect(await tokenBy({})).toBe(String(byFile!.fencingToken));
    expect(await tokenBy({ HOLDFAST_PREFIX: '', HOLDFAST_STORE_TIMEOUT: '' })).toBe(String(byFile!.fencingToken)); // prettier-ignore
    expect(await tokenBy(env)).toBe(String(byEnv!.fencingToken));
    expect(await tokenBy(env, '--prefix', 'flag:')).toBe(String(byFlag!.fencingToken));
    await Promise.all(services.map((each) => each.close()));
  });

  it('may have a store that the file makes', async () => {
    await write(`export default { store: () => ({
      name: 'own', supports: { fencing: false, ttl: true }, tryAcquire: async () => undefined,
      inspect: async (key) => ({ key, holder: 'me:1:2' }),
    }) };`);
    const { code, stdout } = await holdfast(['inspect', 'k'], { cwd: folder });
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'key     k\nholder  me:1:2\n' });
  });

  it('whose module fails later end the command line with one line', async () => {
    await write(`setTimeout(() => { throw new Error('later, redis://u:s3cret@host'); });
      export default { store: async () => { await new Promise(() => {}); } };`);
    const { code, stderr } = await holdfast(['ls'], { cwd: folder });
    expect({ code, stderr }).toEqual({
      code: 70,
      stderr: 'holdfast: an error that nothing awaited: later, redis://***@host\n',
    });
  });

  it('are refused, by their name, when they are unknown or cannot be read', async () => {
    await write(`export default { store: '${server.url}', prefx: 'a:' };`);
    expect(await failure('ls')).toMatch(/unknown option prefx.*prefix/);
    await write(`export default { store: '${server.url}', storeTimeout: '5 bananas' };`);
    expect(await failure('ls')).toMatch(/storeTimeout: .*5 bananas.*500ms/);
    await write(`export const store = 1;`);
    expect(await failure('ls')).toMatch(/default export/);
    await write(`}`);
    expect(await failure('ls')).toMatch(/cannot be loaded/);
    await write(`export default { get store() { throw new Error('no vault'); } };`);
    expect(await failure('ls')).toMatch(/^holdfast: .*cannot be read: no vault\n$/);
    await write(`export default { store: async () => { throw new Error('no vault'); } };`);
    expect(await failure('ls')).toMatch(
      /^holdfast: the function that returns the store failed: no vault\n$/,
    );
    expect(await failure('migrate', 'check', '--to', 'redis://x')).toMatch(/name both stores/);
    expect(await failure('ls', '--config', 'other.mjs')).toMatch(/other\.mjs is not there/);
    expect(await failure('ls', '--older-than', '5')).toMatch(/--older-than.*5m/);
    expect(await failure('sl')).toMatch(/unknown command 'sl'.*holdfast --help/);
  });
});
