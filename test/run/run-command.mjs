import { spawn } from 'node:child_process';

/** Milliseconds, several times what the longest command takes. One that has done its work and does not end must not hold the run. */
const WITHIN = 60 * 60_000;

/** Runs a command with our output and no input. Resolves with its exit code; 127 when there is no such command. */
export function runCommand([file, ...args], { env = {} } = {}) {
  return new Promise((resolve) => {
    const child = spawn(file, args, {
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...process.env, CI: 'true', ...env },
    });
    const overtime = setTimeout(() => {
      console.error(`${[file, ...args].join(' ')} did not end within ${WITHIN / 60_000} minutes`);
      child.kill('SIGKILL');
    }, WITHIN);
    child.once('error', (error) => {
      clearTimeout(overtime);
      console.error(String(error));
      resolve(127);
    });
    child.once('exit', (code) => {
      clearTimeout(overtime);
      resolve(code ?? 1);
    });
  });
}
