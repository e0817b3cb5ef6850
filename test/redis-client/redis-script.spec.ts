import { createHash } from 'node:crypto';
import { RedisScript } from '../../lib/redis-client/redis-script.js';

const SOURCE = 'return KEYS[1]';
const SHA1 = createHash('sha1').update(SOURCE).digest('hex');

describe('RedisScript', () => {
  const client = { evalsha: jest.fn(), eval: jest.fn(), wait: jest.fn() };
  let script: RedisScript;
  const run = (failed?: (error: unknown) => never) =>
    script.run(client, ['a', 'b'], ['x', 1], (reply) => `read ${String(reply)}`, failed);

  beforeEach(async () => {
    script = new RedisScript(SOURCE);
    client.eval.mockReset().mockResolvedValue('full reply');
    await run();
    client.eval.mockClear();
    client.evalsha.mockReset().mockResolvedValue('reply');
  });

  it('is sent in full by each client first, before any call by its hash', async () => {
    script = new RedisScript(SOURCE);
    const [first, second] = [run(), run()]; // the second does not wait for the answer to the first
    expect(client.eval.mock.calls).toEqual([[SOURCE, 2, 'a', 'b', 'x', 1]]);
    expect(client.evalsha.mock.calls).toEqual([[SHA1, 2, 'a', 'b', 'x', 1]]);
    expect(await Promise.all([first, second])).toEqual(['read full reply', 'read reply']);
  });

  it('is sent by its hash from then on', async () => {
    expect(await run()).toBe('read reply');
    expect(client.evalsha.mock.calls).toEqual([[SHA1, 2, 'a', 'b', 'x', 1]]);
    expect(client.eval).not.toHaveBeenCalled();
  });

  it('is sent in full again where the server does not know it', async () => {
    client.evalsha.mockRejectedValue(new Error('NOSCRIPT No matching script.'));
    expect(await run()).toBe('read full reply');
    expect(client.eval.mock.calls).toEqual([[SOURCE, 2, 'a', 'b', 'x', 1]]);
  });

  it.each([
    ['another error', new Error('WRONGTYPE not a string')],
    ['an error that only speaks of it', new Error('ERR script failed: NOSCRIPT')],
    ['a text', 'NOSCRIPT'],
    ['nothing', undefined],
  ])('is not sent again after %s', async (_, error) => {
    client.evalsha.mockRejectedValue(error);
    await expect(run()).rejects.toBe(error);
    expect(client.eval).not.toHaveBeenCalled();
  });

  it.each([
    ['by its hash', new Error('down'), undefined],
    ['in full', new Error('NOSCRIPT No matching script.'), new Error('down')],
  ])(
    'hands the failure of a call %s to its caller, once, who may throw another',
    async (_, first, second) => {
      client.evalsha.mockRejectedValue(first);
      if (second) client.eval.mockRejectedValue(second);
      const failed = jest.fn((): never => {
        throw new Error('given up');
      });
      await expect(run(failed)).rejects.toThrow('given up');
      expect(failed.mock.calls).toEqual([[second ?? first]]);
    },
  );
});
