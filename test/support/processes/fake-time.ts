import { execFileSync } from 'node:child_process';
import { type ServerCommand, needed } from './server-process.js';
import programs from './server-programs.cjs';

/** The time of day of a server that is off by that much: `withClock('+5s')`. Its monotonic clock is right. */
export function withClock(off: string): (command: ServerCommand) => ServerCommand {
  const program = needed(programs.faketime(), 'faketime');
  const library = execFileSync(program, ['-f', off, 'printenv', 'LD_PRELOAD'], {
    encoding: 'utf8',
  });
  const env = {
    ...process.env,
    // The allocator of Redis reads the clock before faketime is ready: that of the C library does not.
    LD_PRELOAD: `${library.trim()}:libc.so.6`,
    FAKETIME: off,
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  };
  return ({ file, args, options }) => ({ file, args, options: { ...options, env } });
}
