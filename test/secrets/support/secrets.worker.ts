import type { LockStore } from 'nest-holdfast/core';
import type { DistributedLockModuleOptions } from 'nest-holdfast';
import { openChannel } from '../../support/processes/worker-channel.js';
import { until } from '../../support/until.js';
import { LONG, SHORT, exercise, printingService } from './exercise.js';
import { exerciseGate } from './fencing-gate.js';
import { exerciseNest } from './nest-app.js';
import { type StoreSpec, openStore, redisClient } from './open-store.js';
import { print } from './printed.js';

/** The fault. `hangs`: nothing is answered, and calls are waited for a short time only. */
export type Scenario =
  | { readonly store: StoreSpec; readonly hangs?: boolean }
  /** A lock is held and another one awaited when it goes wrong, which is when `go` is sent. */
  | { readonly store: StoreSpec; readonly hangs?: boolean; readonly whileHeld: true }
  | { readonly gate: string }
  | { readonly module: DistributedLockModuleOptions };

export type Scenarios = Readonly<Record<string, Scenario>>;

const channel = openChannel<{ held: string } | { done: true }, { go: string }>();
const gone = new Set<string>();
channel.onMessage(({ go }) => gone.add(go));

async function play(name: string, scenario: Scenario): Promise<void> {
  if ('module' in scenario) return exerciseNest(name, scenario.module);
  if ('gate' in scenario) return exerciseGate(name, redisClient(scenario.gate));
  let store: LockStore;
  try {
    store = openStore(scenario.store);
  } catch (error) {
    return print(`${name} open`, error);
  }
  const limits = scenario.hangs ? SHORT : LONG;
  const locks = printingService(name, store, limits);
  const ending = 'whileHeld' in scenario ? await breaking(name, scenario, locks) : undefined;
  await exercise(name, locks, store, limits);
  await ending?.();
  const { storeTimeout } = limits;
  await exerciseNest(name, { store: openStore(scenario.store), storeTimeout });
  await locks.close().catch((error: unknown) => print(`${name} close`, error));
}

/** Resolves once it is broken, with what waits for the end of what was held. */
async function breaking(
  name: string,
  { store }: { store: StoreSpec },
  locks: ReturnType<typeof printingService>,
): Promise<() => Promise<void>> {
  const lock = await until(() => locks.acquire('held', { waitTimeout: 5_000 }), { within: 30_000 });
  const others = printingService(`${name} other`, openStore(store));
  const waiting = others
    .acquire('held', { waitTimeout: 4_000 })
    .catch((error: unknown) => print(`${name} waiter`, error));
  channel.send({ held: name });
  await until(() => gone.has(name), { within: 60_000 });
  return async () => {
    await until(() => lock.signal.aborted, { within: 30_000 });
    print(`${name} lost`, lock.signal.reason);
    await lock.release().catch((error: unknown) => print(`${name} release`, error));
    await waiting;
    await others.close();
  };
}

const scenarios = JSON.parse(process.argv[2]!) as Scenarios;
process.on('unhandledRejection', (error) => print('unhandled rejection', error));
process.on('warning', (warning) => print('warning', warning));
async function playAll(): Promise<void> {
  await Promise.all(Object.entries(scenarios).map((each) => play(...each)));
  channel.send({ done: true });
}

playAll().catch((error: unknown) => {
  print('failed', error);
  process.exit(1);
});
