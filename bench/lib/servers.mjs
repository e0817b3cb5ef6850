import programs from '../../test/support/processes/server-programs.cjs';
import { Admin } from './admin.mjs';
import { startServer } from './server-process.mjs';
import { needed } from './server-tools.mjs';

/** A private redis-server, without persistence. */
export function startRedis() {
  return startServer({ name: 'redis', command: redisCommand, isReady });
}

function redisCommand(_folder, port) {
  const flags = { port, bind: '127.0.0.1', save: '', appendonly: 'no', maxclients: 12_000 };
  const args = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, String(value)]);
  return { file: redisProgram(), args };
}

export const redisProgram = () => needed(programs.redis(), 'Redis');

async function isReady(port) {
  const admin = new Admin(port);
  try {
    return (await admin.command('PING')) === 'PONG';
  } finally {
    admin.close();
  }
}
