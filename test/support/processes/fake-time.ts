import { existsSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type ServerCommand, needed } from './server-process.js';
import programs from './server-programs.cjs';

/** The time of day of a server that is off by that much: `withClock('+5s')`. Its monotonic clock is right. */
export function withClock(off: string): (command: ServerCommand) => ServerCommand {
  const settings = {
    // The allocator of Redis reads the clock before faketime is ready: that of the C library does not.
    LD_PRELOAD: `${libraryOf(needed(programs.faketime(), 'faketime'))}:libc.so.6`,
    FAKETIME: off,
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  };
  const words = Object.entries(settings).map(([name, value]) => `${name}=${value}`);
  // By `env`, for a program that starts the server must not load faketime: the server would not be the owner of its memory.
  return ({ file, args, options }) => ({
    file: 'env',
    args: [...words, file, ...args],
    ...(options && { options }),
    afterKill: removeMemory,
  });
}

/**
 * The library that the program loads. The program itself is not asked: it fails where any process of the same pid was killed
 * and so left its semaphore.
 */
function libraryOf(program: string): string {
  const root = join(dirname(program), '../lib');
  const folders = ['', ...readdirSync(root)].map((each) => join(root, each, 'faketime'));
  const library = folders.map((each) => join(each, 'libfaketime.so.1')).find(existsSync);
  return needed(library, 'libfaketime');
}

/** What faketime shares with children of the server, and removes where the server ends by itself. */
function removeMemory(pid: number): void {
  for (const name of [`sem.faketime_sem_${pid}`, `faketime_shm_${pid}`])
    rmSync(join('/dev/shm', name), { force: true });
}
