import { LockControl } from 'nest-holdfast/testing';
import {
  startApp,
  startServices,
  type TestApp,
  type TestAppOptions,
} from '../../support/test-app.js';

/** An application whose locks do as the test commands. Other options of its module are kept. */
export interface TransportApp extends TestApp {
  readonly control: LockControl;
}

/** As `startApp`: it listens on a free loopback port. */
export async function openTransport({
  lockOptions,
  ...options
}: TestAppOptions = {}): Promise<TransportApp> {
  const control = new LockControl();
  const app = await startApp({
    ...options,
    lockOptions: { ...lockOptions, store: control.store() },
  });
  return Object.assign(app, { control });
}

/** As `startServices`: without a server. */
export async function openServices(
  ...[providers, lockOptions]: Parameters<typeof startServices>
): Promise<TransportApp> {
  const control = new LockControl();
  const app = await startServices(providers, { ...lockOptions, store: control.store() });
  return Object.assign(app, { control });
}
