import express from 'express';
import type { Redis } from 'ioredis';
import { RedisFencingGate, fencedRequest } from 'nest-holdfast/fencing';
import { askAll } from './asked.js';
import { print } from './printed.js';

/** As `exercise`, for a gate that cannot reach its Redis. */
export async function exerciseGate(name: string, client: Redis): Promise<void> {
  const gate = new RedisFencingGate(client);
  const holder = { key: 'a', fencingToken: 1n };
  const calls: Record<string, () => Promise<unknown>> = {
    enter: () => gate.enter(holder),
    call: () => gate.call(holder, 'total', 'GET'),
    forget: () => gate.forget('a'),
  };
  for (const [what, attempt] of Object.entries(calls)) {
    await attempt().catch((error: unknown) => print(`${name} ${what}`, error));
  }
  const app = express();
  app.set('env', 'development'); // where Express prints stacks to every client
  app.get(
    '/fenced',
    fencedRequest(() => 'a', { gate }),
  );
  await askAll(name, app, ['fenced']);
  print(`${name} gate`, gate);
}
