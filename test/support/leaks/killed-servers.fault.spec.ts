import { readFileSync, readdirSync } from 'node:fs';
import { platform } from 'node:os';
import { withClock } from '../processes/fake-time.js';
import { PostgresServer } from '../servers/postgres-server.js';
import { RedisServer } from '../servers/redis-server.js';

const onLinux = platform() === 'linux' ? describe : describe.skip;

onLinux('A server that was killed', () => {
  it('leaves nothing of a clock that was off', async () => {
    const server = await RedisServer.start({ wrap: withClock('+60s') });
    const { pid } = server;
    const left = () => readdirSync('/dev/shm').filter((each) => each.endsWith(`_${pid}`));
    expect(left()).not.toEqual([]);
    await server.remove();
    expect(left()).toEqual([]);
  });

  it('leaves no memory of PostgreSQL', async () => {
    const segments = () => {
      const rows = readFileSync('/proc/sysvipc/shm', 'utf8').trim().split('\n').slice(1);
      return rows
        .map((row) => row.trim().split(/\s+/))
        .map(([, id, , , creator]) => ({ id, creator }));
    };
    const server = await PostgresServer.start();
    const creator = String(server.pid);
    const own = segments().find((each) => each.creator === creator);
    expect(own).toBeDefined();
    await server.remove();
    expect(segments().find(({ id }) => id === own!.id)).toBeUndefined();
  });
});
