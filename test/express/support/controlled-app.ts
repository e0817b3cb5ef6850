import type { Express } from 'express';
import { LockService } from 'nest-holdfast/core';
import { LockControl } from 'nest-holdfast/testing';
import type { VERSIONS } from './express-app.js';

/** An application whose requests wait for as long as a test wants them to. */
export function controlledApp(express: (typeof VERSIONS)[number]['express']) {
  const control = new LockControl();
  const locks = new LockService(control.store(), { waitTimeout: 15_000 });
  const app: Express = express();
  app.set('env', 'test'); // where the default error handler of Express prints nothing
  return { app, control, locks };
}
