// A supervisor that is killed when the command has started, and before its report. The last argument of the command is a file for
// the number of its process.
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { createInterface } from 'node:readline';

createInterface({ input: new Socket({ fd: 3 }) }).once('line', (line) => {
  const [file, ...args] = JSON.parse(line).command;
  const { pid } = spawn(file, args, { detached: true, stdio: 'ignore' });
  writeFileSync(args.at(-1), String(pid));
  process.kill(process.pid, 'SIGKILL');
});
