// The reference: what no lock on Redis can do without, and nothing else. SET NX PX, compare-and-delete by EVALSHA.
import { createHash } from 'node:crypto';
import { connect, Redis5, Redis6 } from '../lib/clients.mjs';
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
  let client;
  return {
    name,
    library: 'raw ioredis',
    variant: clientOptions.enableAutoPipelining ? 'best' : 'default',
    config: `${clientOptions.enableAutoPipelining ? 'enableAutoPipelining; ' : ''}polls every 10 ms`,
    package: Redis === Redis6 ? 'ioredis6' : 'ioredis',
    raw: Redis === Redis6 ? 'raw6' : 'raw5',
    quick,
    features: name === 'raw5-autopipe' ? ['wait'] : ['wait', 'renew'],
    keyPrefix: '',
    async setup(port) {
      client = await connect(Redis, port, clientOptions);
      for (const { source } of [RELEASE, EXTEND]) await client.script('LOAD', source);
    },
    async acquire(key, { ttl, wait, renew, onLost }) {
      const token = PREFIX + count++;
      const end = wait && performance.now() + wait;
      while ((await client.set(key, token, 'PX', ttl, 'NX')) !== 'OK') {
        if (performance.now() >= end) throw new Error('not acquired');
        await sleep(10);
      }
      let timer;
      const extend = async () => {
        const isExtended = await client.evalsha(EXTEND.sha, 1, key, token, ttl);
        if (isExtended !== 1) return onLost();
        timer = setTimeout(extend, ttl / 3);
      };
      if (renew) timer = setTimeout(extend, ttl / 3);
      return {
        release() {
          clearTimeout(timer);
          return client.evalsha(RELEASE.sha, 1, key, token);
        },
      };
    },
    async close() {
      client?.disconnect();
    },
  };
}

function script(command, args) {
  const source = `if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('${command}', ${args}) end return 0`;
  return { source, sha: createHash('sha1').update(source).digest('hex') };
}
