#!/usr/bin/env node
import { systemClock } from '../core/async/clock.js';
import { outliveReaders } from './output/lost-output.js';
import { runProgram } from './program.js';

/** Milliseconds. Clients' timers may let a process end although an answer is awaited. */
const UNTIL_ENDED = 2_147_483_647;

/** Ends the process itself: a client of a server that hangs would keep it alive. */
async function main(): Promise<void> {
  systemClock.schedule(UNTIL_ENDED, () => {});
  outliveReaders();
  process.exit(await runProgram(process.argv.slice(2)));
}

void main();
