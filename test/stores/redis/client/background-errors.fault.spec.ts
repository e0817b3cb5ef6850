import { ChildProcess } from '../../../support/processes/child-process.js';
import { RedisServer } from '../../../support/servers/redis-server.js';
import { until } from '../../../support/until.js';
import type { HolderMessage } from '../../../support/faults/workers/holder.worker.js';

describe('A process whose unhandled rejections are fatal', () => {
  const start = (server: RedisServer) =>
    new ChildProcess<'stop', HolderMessage>('test/support/faults/workers/holder.worker.ts', {
      args: [server.url],
      nodeArgs: ['--unhandled-rejections=strict'],
    });

  const count = (child: ChildProcess<'stop', HolderMessage>, event: string) =>
    child.messages.filter((message) => 'event' in message && message.event === event).length;

  it('survives that Redis is killed in the middle of a renewal, and exits with 0 when told', async () => {
    await using server = await RedisServer.start();
    await using child = start(server);
    await child.received((message) => 'held' in message);

    server.pause(); // renewals are now sent and not answered
    await until(() => count(child, 'jeopardy') + count(child, 'lost') > 0);
    await server.kill();
    await until(() => count(child, 'lost') >= 20);
    child.send('stop');
    expect(await child.exited).toEqual({ code: 0, signal: null });
    expect(child.output).toContain('of a listener');
  });

  it('survives that Redis crashes and comes back empty, and exits with 0 when told', async () => {
    await using server = await RedisServer.start();
    await using child = start(server);
    await child.received((message) => 'held' in message);

    await server.restart();
    await until(() => count(child, 'lost') >= 20);
    child.send('stop');
    expect(await child.exited).toEqual({ code: 0, signal: null });
  });
});
