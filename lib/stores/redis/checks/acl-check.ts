import { RedisScript } from '../../../redis-client/redis-script.js';
import type { ScriptClient } from '../../../redis-client/redis-script.js';
import { reasonOf } from '../../../core/contract/safe-error.js';
import { CHANNEL } from '../lua/hand-off.js';
import { BESIDE, BESIDE_SHARED } from '../keys/server-keys.js';
import type { ServerKeys } from '../keys/server-keys.js';

/** The commands and keys that the server denies to the user of the locks. */
export interface Denied {
  /** In lower case. */
  readonly commands: readonly string[];
  /** Patterns of keys, as in a rule: `{lock:*}:line`. */
  readonly keys: readonly string[];
  readonly channels: readonly string[];
}

/** The arguments behind the key. Complete: `acl_check_cmd` of Redis 7.0 crashes the server where one is missing. */
const OF_A_KEY: Readonly<Record<string, string>> = {
  get: '',
  set: 'value px 1000 nx',
  del: '',
  exists: '',
  pexpire: '1000',
  pexpireat: '1000',
  pttl: '',
  zadd: '1 member',
  zcard: '',
  zcount: '0 1',
  zrange: '0 1',
  zrangebyscore: '0 1',
  zrank: 'member',
  zrem: 'member',
  zremrangebyscore: '0 1',
  zscore: 'member',
};
const WITHOUT_KEY: Readonly<Record<string, string>> = {
  evalsha: `${'0'.repeat(40)} 0`,
  info: 'server',
  time: '',
  unsubscribe: `${CHANNEL}check`, // permitted whatever the channel
};
const OF_A_CHANNEL: Readonly<Record<string, string>> = {
  publish: 'message',
  subscribe: '',
};

const NO_SCRIPTS: Denied = { commands: ['evalsha', 'eval'], keys: [], channels: [] };

/** ARGV: for each command: its number of words, its words. Returns 1 or 0 for each, or nil on a server before 7.0. */
const CHECK = new RedisScript(`
if not redis.acl_check_cmd then return nil end
local answers = {}
local at = 1
while at <= #ARGV do
  local last = at + ARGV[at]
  answers[#answers + 1] = redis.acl_check_cmd(unpack(ARGV, at + 1, last)) and 1 or 0
  at = last + 1
end
return answers`);

/**
 * `undefined` where the server cannot tell. Takes nothing, and leaves nothing in the server's log of denials. `clientPrefix` is
 * the client's prefix of every key.
 */
export async function readDenied(
  client: ScriptClient,
  keys: ServerKeys,
  { clientPrefix, replicas }: { readonly clientPrefix: string; readonly replicas: number },
): Promise<Denied | undefined> {
  const names = namesOf(keys, clientPrefix);
  const alone = { ...WITHOUT_KEY, ...(replicas > 0 && { wait: '0 1' }) };
  const asked = [
    ...names.flatMap(({ name }) => commandsOf(OF_A_KEY, name)),
    ...commandsOf(alone),
    ...commandsOf(OF_A_CHANNEL, `${CHANNEL}check`),
  ];
  const args = asked.flatMap((words) => [words.length, ...words]);
  try {
    const answers = await CHECK.run(client, [], args, (reply) => reply);
    if (!Array.isArray(answers) || answers.length !== asked.length) return undefined;
    return deniedBy(answers.map(Number), names, Object.keys(alone));
  } catch (error) {
    return forbidsScripts(error) ? NO_SCRIPTS : undefined;
  }
}

function commandsOf(rests: Readonly<Record<string, string>>, ...first: readonly string[]) {
  return Object.entries(rests).map(([command, rest]) => [
    command,
    ...first,
    ...rest.split(' ').filter(Boolean),
  ]);
}

/**
 * A command is denied where it is for every key, and a key where every command is that others may use. Where all are, the keys
 * are the likelier reason.
 */
function deniedBy(
  answers: readonly number[],
  names: readonly KeyName[],
  alone: readonly string[],
): Denied {
  const commands = Object.keys(OF_A_KEY);
  const may = (key: number, command: number) => answers[key * commands.length + command] === 1;
  const isUsable = names.map((_, key) => commands.some((_command, index) => may(key, index)));
  const areAllDenied = !isUsable.includes(true);
  const ofKeys = areAllDenied
    ? []
    : commands.filter((_, command) => !names.some((_name, key) => may(key, command)));
  const others = answers.slice(names.length * commands.length);
  const ofNone = alone.filter((_, index) => others[index] !== 1);
  const ofChannels = Object.keys(OF_A_CHANNEL).filter((_, index) => others[alone.length + index] !== 1); // prettier-ignore
  const isChannel = ofChannels.length === Object.keys(OF_A_CHANNEL).length;
  return {
    commands: [...ofNone, ...ofKeys, ...(isChannel ? [] : ofChannels)],
    keys: unique(names.filter((_, key) => !isUsable[key]).map(({ pattern }) => pattern)),
    channels: isChannel ? [`${CHANNEL}*`] : [],
  };
}

interface KeyName {
  readonly name: string;
  /** As a rule has it. */
  readonly pattern: string;
}

/** For the keys of any lock, and of one whose key has a hash tag of its own. No prefix has this key, which a rule has `*` for. */
function namesOf(keys: ServerKeys, clientPrefix: string): KeyName[] {
  const beside = (key: string) => [...keys.with(BESIDE, [key]), ...keys.with(BESIDE_SHARED, [key])];
  const locks = ['holdfast-check', 'holdfast-check{tag}'];
  const names = locks.flatMap((key) => beside(key)).map((name) => clientPrefix + name);
  return unique(names).map((name) => ({ name, pattern: patternOf(name) }));
}

function patternOf(name: string): string {
  return name
    .replace(/holdfast-check(\{tag\})?/g, '*')
    .replace('{tag}', '{*}')
    .replace(/mark:\d+(?=\}:fence$)/, '*');
}

function unique<T>(values: readonly T[]): T[] {
  return [...new Set(values)];
}

function forbidsScripts(error: unknown): boolean {
  return /^NOPERM\b.*\beval/i.test(reasonOf(error));
}
