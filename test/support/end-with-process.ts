import { spawnSync } from 'node:child_process';
import type { ServerCommand } from './processes/server-process.js';

const SETPRIV = ['--pdeathsig', 'SIGKILL', '--'];
let canFollow: boolean | undefined;
const endings: (() => void)[] = [];

/**
 * Linux ends the server with this process, however that ends: Jest kills a worker that is slow to leave, and runs none of its
 * listeners then. Elsewhere the command is left as it is.
 */
export function endingWithProcess(command: ServerCommand): ServerCommand {
  canFollow ??= spawnSync('setpriv', [...SETPRIV, 'true']).status === 0;
  if (!canFollow) return command;
  return { ...command, file: 'setpriv', args: [...SETPRIV, command.file, ...command.args] };
}

/** Runs `kill` when this process exits, and `remove` after every server has been killed. */
export function atExit(kill: () => void, remove: () => void): void {
  if (endings.length === 0) process.once('exit', () => endings.forEach((end) => end()));
  endings.unshift(kill);
  endings.push(remove);
}
