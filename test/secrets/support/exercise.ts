import { setTimeout as sleep } from 'node:timers/promises';
import express from 'express';
import {
  LeaderElection,
  type LockEventName,
  LockService,
  type LockStore,
  oncePerTick,
} from 'nest-holdfast/core';
import { lockErrorHandler, lockRequest } from 'nest-holdfast/express';
import { askAll } from './asked.js';
import { print } from './printed.js';

const EVENTS: readonly LockEventName[] = [
  'held',
  'jeopardy',
  'recovered',
  'lost',
  'released',
  'releaseFailed',
  'node',
];
/** Milliseconds. For servers that answer, if only with a refusal. Calls of the store itself are waited for three times as long. */
export const LONG = { ttl: 3_000, waitTimeout: 2_000, storeTimeout: 8_000 };
/** For what never answers. */
export const SHORT = { ttl: 3_000, waitTimeout: 300, storeTimeout: 700 };

/** A service that prints all that it tells. */
export function printingService(name: string, store: LockStore, limits = LONG): LockService {
  const locks = new LockService(store, limits);
  for (const event of EVENTS) {
    locks.events.on(event, (told: unknown) => print(`${name} ${event}`, told));
  }
  return locks;
}

/** Goes through every call that may fail, and prints what it fails with, and the objects that people print. */
export async function exercise(
  name: string,
  locks: LockService,
  store: LockStore,
  limits = LONG,
): Promise<void> {
  const call = { keys: ['a'], key: 'a', token: 'a token of ours', ttl: 1_000 };
  const calls: Record<string, () => unknown> = {
    acquire: () => locks.acquire('a'),
    tryAcquire: () => locks.tryAcquire('b'),
    withLock: () => locks.withLock('c', () => {}),
    many: () => locks.acquire(['d', 'e']),
    read: () => locks.acquire('f', { mode: 'read' }),
    permits: () => locks.acquire('g', { permits: 2 }),
    inspect: () => locks.inspect('a'),
    tick: () => oncePerTick(locks, 'tick', { every: 60_000 }, () => {}),
    'store.tryAcquire': () => store.tryAcquire(call),
    'store.inspect': () => store.inspect?.('a'),
    election: () => elect(name, locks),
    http: () => serve(name, locks),
  };
  const run = async (what: string, attempt: () => unknown) => {
    const patience = sleep(3 * limits.storeTimeout, undefined, { ref: false });
    try {
      await Promise.race([attempt(), patience]); // a client may keep a command until it has a server
    } catch (error) {
      print(`${name} ${what}`, error);
    }
  };
  await Promise.all(Object.entries(calls).map(([what, attempt]) => run(what, attempt)));
  await run('store.createTable', () => (store as Partial<Table>).createTable?.()); // for what lacks it, the calls have failed by now
  print(`${name} service`, locks);
  print(`${name} store`, store);
}

interface Table {
  createTable(): Promise<void>;
}

/** Until it has failed twice, or once led. */
async function elect(name: string, locks: LockService): Promise<void> {
  const election = new LeaderElection(locks, 'leader', { pause: 1 });
  let failures = 0;
  await new Promise<void>((resolve) => {
    election.events.on('elected', () => resolve());
    election.events.on('failed', (error) => {
      print(`${name} election`, error);
      failures += 1;
      if (failures === 2) resolve();
    });
    election.start();
  });
  await election.stop();
}

/** Express in development prints stacks to every client. */
async function serve(name: string, locks: LockService): Promise<void> {
  const app = express();
  app.set('env', 'development');
  app.get('/plain', lockRequest('a', { locks }), (_request, response) => void response.end());
  app.get('/answered', lockRequest('a', { locks, onError: 'respond' }), (_request, response) => {
    response.end();
  });
  const handled = express.Router();
  handled.get('/', () => locks.withLock('a', () => {}) as never);
  handled.use(lockErrorHandler() as never);
  app.use('/handled', handled);
  await askAll(name, app, ['plain', 'answered', 'handled']);
}
