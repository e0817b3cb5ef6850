import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sleep } from './time.mjs';

const running = new Set();
process.once('exit', () => running.forEach((server) => server.kill()));
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(130));

/**
 * A private server on a free loopback port, in a folder of its own, which ends with this process at the latest. `prepare` fills
 * the folder, `command` is its command line in there, `isReady` is one look whether it serves.
 */
export async function startServer({
  name,
  prepare = () => {},
  command,
  isReady,
  endSignal = 'SIGKILL',
}) {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), `bench-${name}-`));
  try {
    await prepare(folder, port);
    const { file, args, ...settings } = command(folder, port);
    const child = spawn(file, args, { stdio: 'ignore', cwd: folder, ...settings });
    await once(child, 'spawn');
    const server = handleOf(child, { port, folder, endSignal });
    running.add(server);
    await untilReady(name, child, () => isReady(port));
    return server;
  } catch (error) {
    remove(folder); // a server that did not get ready is killed with this process
    throw error;
  }
}

export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

function handleOf(child, { port, folder, endSignal }) {
  const server = {
    port,
    pid: child.pid,
    pause: () => child.kill('SIGSTOP'),
    resume: () => child.kill('SIGCONT'),
    kill() {
      child.kill(endSignal);
      remove(folder);
    },
    async stop() {
      running.delete(server);
      const hasEnded = child.exitCode !== null || child.signalCode !== null;
      const exited = hasEnded || once(child, 'exit');
      child.kill(endSignal);
      await exited;
      remove(folder);
    },
  };
  return server;
}

const remove = (folder) => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });

async function untilReady(name, child, isReady) {
  const end = performance.now() + 30_000;
  while (performance.now() < end && child.exitCode === null) {
    if (await isReady().catch(() => false)) return; // not listening yet
    await sleep(25);
  }
  throw new Error(`${name} did not start`);
}
