import { readDenied } from '../../../../lib/stores/redis/checks/acl-check.js';
import { ServerKeys } from '../../../../lib/stores/redis/keys/server-keys.js';
import type { ScriptClient } from '../../../../lib/redis-client/redis-script.js';

type Permits = (words: readonly string[]) => boolean;

const NOTHING = { commands: [], keys: [], channels: [] };
const OF_A_KEY = ['del', 'exists', 'get', 'pexpire', 'pexpireat', 'pttl', 'set', 'zadd', 'zcard', 'zcount', 'zrange', 'zrangebyscore', 'zrank', 'zrem', 'zremrangebyscore', 'zscore']; // prettier-ignore

/** A server that permits some commands. `asked` gets all of which it was asked. */
function serverOf(permits: Permits, asked: string[][] = []): ScriptClient {
  const answer = async (_script: string, _count: number, ...args: (string | number)[]) => {
    const answers: number[] = [];
    while (args.length > 0) {
      const words = args.splice(0, Number(args[0]) + 1).slice(1) as string[];
      asked.push(words);
      answers.push(Number(permits(words)));
    }
    return answers;
  };
  return { eval: answer, evalsha: answer };
}

async function denied(
  permits: Permits,
  { replicas = 0, clientPrefix = '', isOneServer = true } = {},
) {
  const asked: string[][] = [];
  const keys = new ServerKeys('lock:', clientPrefix, isOneServer);
  const found = await readDenied(serverOf(permits, asked), keys, { clientPrefix, replicas });
  return { found, asked };
}

const but = (...names: string[]): Permits => ([command]) => !names.includes(command!); // prettier-ignore

describe('What the server denies to the user of the locks', () => {
  it('is asked of each command, with each kind of key, and of each channel', async () => {
    const { found, asked } = await denied(() => true);
    expect(found).toEqual(NOTHING);
    expect(new Set(asked.map(([command]) => command))).toEqual(
      new Set([...OF_A_KEY, 'evalsha', 'info', 'time', 'unsubscribe', 'publish', 'subscribe']),
    );
    expect(asked).toContainEqual(['set', 'lock:holdfast-check', 'value', 'px', '1000', 'nx']);
    expect(asked).toContainEqual(['get', '{lock:holdfast-check}:line']);
    expect(asked).toContainEqual(['zscore', '{tag}:shared:lock:holdfast-check{tag}', 'member']);
    expect(asked).toContainEqual(['publish', 'holdfast:check', 'message']);
    expect(asked).toContainEqual(['time']);
  });

  it('is asked with the prefix of the client, and of WAIT where replicas are awaited', async () => {
    const { asked } = await denied(() => true, { clientPrefix: 'app:', replicas: 1 });
    expect(asked).toContainEqual(['get', 'app:lock:holdfast-check']);
    expect(asked).toContainEqual(['get', 'app:{app:lock:holdfast-check}:line:lock:holdfast-check']);
    expect(asked).toContainEqual(['wait', '0', '1']);
    expect((await denied(but('wait'), { replicas: 1 })).found!.commands).toEqual(['wait']);
    expect((await denied(but('wait'))).found).toEqual(NOTHING);
  });

  it.each([
    ['get'],
    ['zscore'],
    ['info'],
    ['unsubscribe'],
    ['publish'],
    ['subscribe'],
    ['time', 'set'],
  ])('are commands: %s, %s', async (...names) => {
    const { found } = await denied(but(...names.filter(Boolean)));
    expect(found).toEqual({ ...NOTHING, commands: names.filter(Boolean) });
  });

  it.each([
    ['{lock:*}:line', /^\{lock:holdfast-check(\{tag\})?\}:line/],
    ['{*}:line:lock:*', /^\{tag\}:line:/],
    ['{lock:*}:fence', /:fence$/],
  ])('are keys: %s', async (pattern, denies) => {
    const { found } = await denied(([command, key = '']) => !OF_A_KEY.includes(command!) || !denies.test(key)); // prettier-ignore
    expect(found).toEqual({ ...NOTHING, keys: [pattern] });
  });

  it.each([
    ['app:', ['app:lock:*', 'app:{app:lock:*}:line:lock:*', 'app:{*}:line:lock:*']],
    ['check:', ['check:lock:*', 'check:{check:lock:*}:line:lock:*', 'check:{check:lock:*}:fence']],
  ])('are keys with the prefix %s of the client, of any lock', async (clientPrefix, patterns) => {
    const { found } = await denied(but(...OF_A_KEY), { clientPrefix });
    for (const pattern of patterns) expect(found!.keys).toContain(pattern);
  });

  it('are the keys, and no commands, where all of both are denied', async () => {
    const { found } = await denied(but(...OF_A_KEY));
    expect(found!.commands).toEqual([]);
    expect(found!.keys).toContain('lock:*');
    expect(found!.keys).toContain('{lock:*}:shared');
    expect(new Set(found!.keys).size).toBe(found!.keys.length);
  });

  it('is the channel, where both of its commands are denied', async () => {
    const { found } = await denied(but('publish', 'subscribe'));
    expect(found).toEqual({ ...NOTHING, channels: ['holdfast:*'] });
  });

  const keys = new ServerKeys('lock:', '', true);
  const limits = { clientPrefix: '', replicas: 0 };
  const read = (run: () => Promise<unknown>) => readDenied({ eval: run, evalsha: run }, keys, limits); // prettier-ignore

  it.each([
    ['nil', null],
    ['too few answers', [1, 0]],
    ['a text', 'OK'],
  ])('is unknown where it answers %s', async (_, reply) => {
    expect(await read(async () => reply)).toBeUndefined();
  });

  it.each([
    [
      "NOPERM this user has no permissions to run the 'eval' command",
      { ...NOTHING, commands: ['evalsha', 'eval'] },
    ],
    [
      "NOPERM User locks has no permissions to run the 'EVALSHA' command",
      { ...NOTHING, commands: ['evalsha', 'eval'] },
    ],
    ['NOPERM no permissions to access a key', undefined],
    ['LOADING evaluation', undefined],
  ])('after the error "%s" are scripts, or it is unknown', async (text, expected) => {
    expect(await read(() => Promise.reject(new Error(text)))).toEqual(expected);
  });
});
