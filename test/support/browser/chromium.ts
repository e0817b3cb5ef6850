import { type Browser, chromium } from 'playwright-core';
import programs from '../processes/server-programs.cjs';

/** Switches off the parts that a test does not need: the sandbox, the graphics card, and the requests to its maker. */
const ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
/** Milliseconds. A first start may have to wait for a busy machine. */
const START_WITHIN = 100_000;

/** A Chromium without a window, with data of its own, that ends with `close`. */
export function startChromium(): Promise<Browser> {
  const executablePath = programs.chromium();
  if (executablePath === undefined) throw new Error('There is no chromium: run npm test once');
  return chromium.launch({ executablePath, args: ARGS, timeout: START_WITHIN });
}
