import { LEAVE, WAIT } from '../../../../lib/stores/redis/lua/queue-scripts.js';
import { FREE } from '../../../../lib/stores/redis/lua/free-script.js';
import { RedisScript } from '../../../../lib/redis-client/redis-script.js';
import { ACQUIRE_SHARED } from '../../../../lib/stores/redis/lua/sharing-scripts.js';
import { lineKey } from '../../../support/redis-line.js';
import { RedisServer } from '../../../support/servers/redis-server.js';
import { OwnClient } from '../locks.js';

const LIFE = 600_000;
const CLAIM = 1_000;
const SHORT = { lock: 'lock:short', length: 10 };
const LONG = { lock: 'lock:long', length: 2_000 };
type Line = typeof SHORT;

const inLine = (lock: string) => [lock, lineKey(lock), `{${lock}}:shared`];
const alone = (lock: string) => [lock, `{${lock}}:fence`, lineKey(lock)];

/** Counts what a script reads from the server: each element of a list, and each answer that is none. */
const WEIGH = `
local server = redis
local weight = 0
local function weighed(reply)
  weight = weight + (type(reply) == 'table' and #reply or 1)
  server.call('set', 'weight', weight)
  return reply
end
local redis = setmetatable({ call = function(...) return weighed(server.call(...)) end }, { __index = server })
`;

const KINDS = [
  ['writers', ''],
  ['readers', '*inf'],
] as const;

describe.each(KINDS)('What a long line of %s costs the server:', (_, kind) => {
  let server: RedisServer;
  let client: OwnClient;
  let first: OwnClient;

  beforeAll(async () => {
    server = await RedisServer.start();
    client = new OwnClient(server.url);
    first = new OwnClient(server.url);
    await first.redis.subscribe('holdfast:store0');
  });

  beforeEach(async () => {
    await client.redis.flushall();
    for (const line of [SHORT, LONG]) await fill(line);
  });

  afterAll(async () => {
    for (const each of [client, first]) await each[Symbol.asyncDispose]();
    await server.stop();
  });

  const value = (index: number) => `store${index}${kind}.token-${index}:host:1:2`;

  async function fill({ lock, length }: Line): Promise<void> {
    await client.redis.set(lock, 'writer', 'PX', LIFE);
    for (let from = 0; from < length; from += 100) {
      const count = Math.min(100, length - from);
      const values = Array.from({ length: count }, (_each, index) => value(from + index));
      const args = values.flatMap((each) => [each, CLAIM]);
      const keys = values.flatMap(() => inLine(lock));
      await run(WAIT, keys, [LIFE, ...args]);
    }
  }

  function run(script: RedisScript, keys: readonly string[], args: readonly (string | number)[]) {
    return script.run(client.redis, keys, args, (reply) => reply);
  }

  const last = ({ length }: Line) => value(length - 1);
  const middle = ({ length }: Line) => value(length / 2);

  type Deed = (line: Line, by: (script: RedisScript) => RedisScript) => Promise<unknown>;
  const beat: Deed = ({ lock, length }, by) =>
    run(by(WAIT), inLine(lock), [LIFE, value(length / 2), CLAIM]);
  const DEEDS: readonly (readonly [string, Deed])[] = [
    ['a sign of life', beat],
    [
      'one more in line',
      ({ lock }, by) => run(by(WAIT), inLine(lock), [LIFE, value(9_999), CLAIM]),
    ],
    [
      'one who leaves from the middle',
      (line, by) => run(by(LEAVE), inLine(line.lock), [middle(line), CLAIM]),
    ],
    ['one who leaves last', (line, by) => run(by(LEAVE), inLine(line.lock), [last(line), CLAIM])],
    ['a hand-off', ({ lock }, by) => run(by(FREE), alone(lock), ['writer'])],
    [
      'one who only tries to share it',
      ({ lock }, by) => run(by(ACQUIRE_SHARED), inLine(lock), ['other*inf.1:host:1:2', LIFE]),
    ],
  ];

  it.each(DEEDS)('%s reads no more of it than of a short one', async (_what, deed) => {
    const weigh = (script: RedisScript) => new RedisScript(WEIGH + script.source);
    const weight = async (line: Line) => {
      await deed(line, weigh);
      return Number(await client.redis.get('weight'));
    };
    const short = await weight(SHORT);
    expect(short).toBeGreaterThan(0);
    expect(await weight(LONG)).toBeLessThanOrEqual(short + 3);
  });

  it('a sign of life takes no longer than in a short one, by far', async () => {
    await client.redis.config('SET', 'slowlog-log-slower-than', '0', 'slowlog-max-len', '10000');
    const rounds = 100;
    for (let round = 0; round < rounds; round++)
      for (const line of [SHORT, LONG]) await beat(line, (own) => own);
    const log = (await client.redis.call('SLOWLOG', 'GET', 10_000)) as [0, 0, number, string[]][];
    const took = ({ lock }: Line) => {
      const times = log
        .filter(([, , , words]) => words[0]!.startsWith('eval') && words[3] === lock)
        .map(([, , micros]) => micros);
      expect(times.length).toBeGreaterThanOrEqual(rounds);
      return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)]!;
    };
    expect(took(LONG)).toBeLessThan(4 * took(SHORT));
  });
});
