#!/usr/bin/env node
import { systemClock } from '../core/async/clock.js';
import { reasonOf } from '../core/contract/safe-error.js';
import { ExitCode } from './output/exit-codes.js';
import { oneLine } from './output/failure.js';
import { outliveReaders } from './output/lost-output.js';
import { runProgram } from './program.js';

/** Milliseconds. Clients' timers may let a process end although an answer is awaited. */
const UNTIL_ENDED = 2_147_483_647;

/** Ends the process itself: a client of a server that hangs would keep it alive. */
async function main(): Promise<void> {
  systemClock.schedule(UNTIL_ENDED, () => {});
  outliveReaders();
  process.on('uncaughtException', end);
  process.exit(await runProgram(process.argv.slice(2)));
}

/** Of a client, or of the file of --config: no stack, which may have a password in it. The supervisor ends a command that runs. */
function end(error: unknown): never {
  process.stderr.write(`holdfast: an error that nothing awaited: ${oneLine(reasonOf(error))}\n`);
  process.exit(ExitCode.lost);
}

void main();
