import { spawn } from 'node:child_process';

/** Runs a command with our output and no input. Resolves with its exit code; 127 when there is no such command. */
export function runCommand([file, ...args], { env = {} } = {}) {
  return new Promise((resolve) => {
    const child = spawn(file, args, {
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...process.env, CI: 'true', ...env },
    });
    child.once('error', (error) => {
      console.error(String(error));
      resolve(127);
    });
    child.once('exit', (code) => resolve(code ?? 1));
  });
}
