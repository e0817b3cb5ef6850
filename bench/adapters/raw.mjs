// The reference: what no lock on Redis can do without, and nothing else. SET NX PX, compare-and-delete by EVALSHA. On several
// servers, both to all of them at once, decided by the first majority.
import { createHash } from 'node:crypto';
import { connectAll, Redis5, Redis6 } from '../lib/clients.mjs';
import { sleep } from '../lib/time.mjs';

const RELEASE = script('del', 'KEYS[1]');
const EXTEND = script('pexpire', 'KEYS[1], ARGV[2]');
const PREFIX = `${process.pid}-${Date.now()}-`;
let count = 0;

export default () => [
  raw('raw5', Redis5, {}, true),
  raw('raw5-autopipe', Redis5, { enableAutoPipelining: true }),
  raw('raw6', Redis6, {}, true),
  raw('raw6-autopipe', Redis6, { enableAutoPipelining: true }),
];

function raw(name, Redis, clientOptions, quick = false) {
  let clients;
  let ask;
  return {
    name,
    library: 'raw ioredis',
    variant: clientOptions.enableAutoPipelining ? 'best' : 'default',
    config: `${clientOptions.enableAutoPipelining ? 'enableAutoPipelining; ' : ''}polls every 10 ms`,
    package: Redis === Redis6 ? 'ioredis6' : 'ioredis',
    raw: Redis === Redis6 ? 'raw6' : 'raw5',
    quick,
    features: ['wait', 'redlock', ...(name === 'raw5-autopipe' ? [] : ['renew'])],
    keyPrefix: '',
    async setup(...ports) {
      clients = await connectAll(Redis, ports, clientOptions);
      const [first] = clients;
      ask =
        ports.length > 1
          ? (command) => majority(clients.map((client) => command(client)))
          : (command) => command(first);
      for (const { source } of [RELEASE, EXTEND]) {
        await Promise.all(clients.map((client) => client.script('LOAD', source)));
      }
    },
    async acquire(key, { ttl, wait, renew, onLost }) {
      const token = PREFIX + count++;
      const end = wait && performance.now() + wait;
      const take = (client) => client.set(key, token, 'PX', ttl, 'NX');
      const free = (client) => client.evalsha(RELEASE.sha, 1, key, token);
      while ((await ask(take)) !== 'OK') {
        if (clients.length > 1) await ask(free);
        if (performance.now() >= end) throw new Error('not acquired');
        await sleep(clients.length > 1 ? 5 + 10 * Math.random() : 10); // in step, votes would split for ever
      }
      let timer;
      const extend = async () => {
        const isExtended = await ask((client) => client.evalsha(EXTEND.sha, 1, key, token, ttl));
        if (isExtended !== 1) return onLost();
        timer = setTimeout(extend, ttl / 3);
      };
      if (renew) timer = setTimeout(extend, ttl / 3);
      return {
        release() {
          clearTimeout(timer);
          return ask(free);
        },
      };
    },
    async close() {
      clients?.forEach((client) => client.disconnect());
    },
  };
}

/** The reply of those that say yes, once they are most; `undefined` once they cannot be any more. */
function majority(replies) {
  const needed = Math.floor(replies.length / 2) + 1;
  let yes = 0;
  let no = 0;
  return new Promise((resolve) => {
    const onReply = (reply) => {
      if (!reply) {
        if (++no > replies.length - needed) resolve(undefined);
      } else if (++yes === needed) resolve(reply);
    };
    const onError = () => onReply(undefined);
    for (const reply of replies) reply.then(onReply, onError);
  });
}

function script(command, args) {
  const source = `if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('${command}', ${args}) end return 0`;
  return { source, sha: createHash('sha1').update(source).digest('hex') };
}
