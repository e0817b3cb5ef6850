import { asText } from '../../stores/redis/lua/replies.js';
import { readDenied } from '../../stores/redis/checks/acl-check.js';
import { findingsOf } from '../../stores/redis/checks/findings.js';
import { readFacts } from '../../stores/redis/checks/server-facts.js';
import { addressOf, canWatch } from '../../stores/redis/failover/server-link.js';
import { ServerKeys } from '../../stores/redis/keys/server-keys.js';
import { reasonOf } from '../../core/contract/safe-error.js';
import type { RedisClient } from '../../redis-client/redis-client.js';
import type { OpenedStore } from '../store/opened-store.js';
import type { Check } from './check.js';

/** The subject of each check, by the end of the code of its warning. */
const CHECKED = {
  EVICTION: 'eviction',
  PERSISTENCE: 'persistence',
  ACL: 'acl',
  CLOCK: 'clock',
} as const;

/** The settings of each Redis of the store that lose locks in practice; none for other stores. Never rejects. */
export async function checkRedis({ redis = [] }: OpenedStore, prefix = 'lock:'): Promise<Check[]> {
  const keys = new ServerKeys(prefix, '', true);
  const all = await Promise.all(redis.map((client) => checkServer(client, keys, redis.length > 1)));
  return all.flat();
}

async function checkServer(
  client: RedisClient,
  keys: ServerKeys,
  isOneOfSeveral: boolean,
): Promise<Check[]> {
  if (!canWatch(client)) return [];
  const at = `Redis (${addressOf(client)})`;
  const limits = { clientPrefix: '', replicas: 0 };
  const [facts, denied] = await Promise.all([readFacts(client), readDenied(client, keys, limits)]);
  const found = findingsOf(at, facts, denied, { replicas: 0, isOneOfSeveral });
  const settings = Object.entries(CHECKED).map(([code, about]): Check => {
    const warning = found.find((each) => each.code.endsWith(code));
    if (warning) return { status: 'problem', about, message: warning.message };
    return { status: 'ok', about, message: at };
  });
  return [...settings, await replicasOf(client, at)];
}

type Informing = { info(section: string): Promise<unknown> };

async function replicasOf(client: Informing, at: string): Promise<Check> {
  const about = 'replicas';
  try {
    const info = asText(await client.info('replication'));
    const field = (name: string) => new RegExp(`^${name}:(.+?)\\r?$`, 'm').exec(info)?.[1];
    if (field('role') === 'slave')
      return {
        status: 'problem',
        about,
        message: `${at} is a replica: name its master, or the locks cannot be written`,
      };
    const count = Number(field('connected_slaves') ?? 0);
    const message =
      count === 0
        ? `${at} has no replica: no failover can lose a lock, and none can save one`
        : `${at} has ${count}: a failover may lose a lock that no replica has yet, see the option replicas of RedisLockStore`;
    return { status: count === 0 ? 'ok' : 'hint', about, message };
  } catch (error) {
    return { status: 'hint', about, message: `${at} does not say: ${reasonOf(error)}` };
  }
}
