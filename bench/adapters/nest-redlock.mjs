// @anchan828/nest-redlock through a real Nest application context.
import 'reflect-metadata';
import { createRequire } from 'node:module';
import { connect, Redis5 } from '../lib/clients.mjs';
import { usingHandle } from '../lib/using-handle.mjs';

const require = createRequire(import.meta.url);

export default () => [
  nestRedlock('nest-redlock', {
    variant: 'default',
    config: 'defaults (retries after 200 ± 100 ms)',
  }),
  nestRedlock('nest-redlock-tuned', {
    variant: 'best',
    settings: { retryDelay: 10, retryJitter: 5 },
    clientOptions: { enableAutoPipelining: true },
    config: 'retryDelay: 10, retryJitter: 5, client with enableAutoPipelining',
  }),
];

function nestRedlock(name, { variant, settings = {}, clientOptions, config }) {
  const { retryDelay = 200 } = settings;
  let client;
  let app;
  let service;
  return {
    name,
    library: '@anchan828/nest-redlock',
    variant,
    config,
    package: '@anchan828/nest-redlock',
    raw: 'raw5',
    quick: variant === 'best',
    features: ['wait', 'renew'],
    keyPrefix: '',
    async setup(port) {
      const { NestFactory } = require('@nestjs/core');
      const { RedlockModule, RedlockService } = require('@anchan828/nest-redlock');
      client = await connect(Redis5, port, clientOptions);
      const root = {
        module: class Root {},
        imports: [RedlockModule.register({ clients: [client], settings })],
      };
      app = await NestFactory.createApplicationContext(root, { logger: false });
      service = app.get(RedlockService);
    },
    async acquire(key, { ttl, wait, renew, onLost }) {
      const retry = { retryCount: Math.ceil(wait / retryDelay) };
      if (renew) return usingHandle((routine) => service.using([key], ttl, retry, routine), onLost);
      const held = await service.acquire([key], ttl, retry);
      return { release: () => service.release(held, { retryCount: 0 }) };
    },
    async close() {
      client?.disconnect();
      await app?.close();
    },
  };
}
