import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Admin } from './admin.mjs';
import { sleep } from './time.mjs';

const running = new Set();
process.once('exit', () => running.forEach((server) => server.kill()));
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(130));

/** A private redis-server on a free loopback port, in a folder of its own, without persistence. */
export async function startRedis() {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'bench-redis-'));
  const flags = { port, bind: '127.0.0.1', save: '', appendonly: 'no', maxclients: 10_000 };
  const child = spawn(
    process.env.REDIS_SERVER ?? 'redis-server',
    Object.entries(flags).flatMap(([name, value]) => [`--${name}`, String(value)]),
    { stdio: 'ignore', cwd: folder },
  );
  await once(child, 'spawn');
  const server = {
    port,
    pid: child.pid,
    pause: () => child.kill('SIGSTOP'),
    resume: () => child.kill('SIGCONT'),
    kill() {
      child.kill('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    },
    async stop() {
      running.delete(server);
      const exited = once(child, 'exit');
      server.kill();
      await exited;
    },
  };
  running.add(server);
  await untilReady(port);
  return server;
}

async function untilReady(port) {
  for (let attempt = 0; attempt < 200; attempt++) {
    const admin = new Admin(port);
    const reply = await admin.command('PING').catch(() => undefined); // not listening yet
    admin.close();
    if (reply === 'PONG') return;
    await sleep(25);
  }
  throw new Error(`redis-server did not start on port ${port}`);
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}
