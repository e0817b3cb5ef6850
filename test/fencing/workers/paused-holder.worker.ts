import { RedisLocks } from '../../stores/redis/locks.js';
import { openChannel } from '../../support/processes/worker-channel.js';
import { KINDS, type Urls, open } from '../resources.js';

export type PausedHolderMessage =
  { token: string } | { outcomes: Readonly<Record<string, string>> };

/** Holds `order:42`, writes everything that it protects, and once more when told: much too late, if it was paused. */
async function main(redisUrl: string, urls: Urls): Promise<void> {
  const channel = openChannel<PausedHolderMessage, 'write'>();
  const own = new RedisLocks(redisUrl, { ttl: 4_000 });
  const resources = KINDS.map((kind) => [kind, open(kind, urls)] as const);
  const { key, fencingToken } = await own.locks.acquire('order:42');
  const holder = { key, fencingToken };

  const writeAll = async (value: string) => {
    const outcomes = resources.map(async ([kind, resource]) => {
      const write = resource.write(holder, value);
      return [kind, await write.then(() => 'written', codeOf)] as const;
    });
    return Object.fromEntries(await Promise.all(outcomes));
  };
  channel.send({ outcomes: await writeAll('first') });
  channel.onMessage(() => {
    writeAll('late').then((outcomes) => channel.send({ outcomes }), console.error);
  });
  channel.send({ token: String(fencingToken) });
}

function codeOf(error: { code: string }): string {
  return error.code;
}

void main(process.argv[2]!, JSON.parse(process.argv[3]!) as Urls);
