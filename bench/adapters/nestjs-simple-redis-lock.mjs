// @huangang/nestjs-simple-redis-lock through a real Nest application context.
import 'reflect-metadata';
import { createRequire } from 'node:module';
import { connect, Redis5 } from '../lib/clients.mjs';

const require = createRequire(import.meta.url);

export default () => [
  simpleRedisLock('nestjs-simple-redis-lock', {
    variant: 'default',
    retryInterval: 100,
    config: 'defaults (retries after 100 ms)',
  }),
  simpleRedisLock('nestjs-simple-redis-lock-tuned', {
    variant: 'best',
    retryInterval: 10,
    clientOptions: { enableAutoPipelining: true },
    config: 'retryInterval 10, client with enableAutoPipelining',
  }),
];

function simpleRedisLock(name, { variant, retryInterval, clientOptions, config }) {
  let client;
  let app;
  let service;
  return {
    name,
    library: '@huangang/nestjs-simple-redis-lock',
    variant,
    config,
    package: '@huangang/nestjs-simple-redis-lock',
    raw: 'raw5',
    quick: variant === 'best',
    features: ['wait'],
    async setup(port) {
      const { NestFactory } = require('@nestjs/core');
      const { RedisLockModule, RedisLockService } = require('@huangang/nestjs-simple-redis-lock');
      client = await connect(Redis5, port, clientOptions);
      const root = { module: class Root {}, imports: [RedisLockModule.register({ client })] };
      app = await NestFactory.createApplicationContext(root, { logger: false });
      service = app.get(RedisLockService);
    },
    async acquire(key, { ttl, wait }) {
      await service.lock(key, ttl, retryInterval, Math.ceil(wait / retryInterval));
      return { release: () => service.unlock(key) };
    },
    async close() {
      await app?.close();
      client?.disconnect();
    },
  };
}
