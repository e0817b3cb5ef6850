import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { percentile, sendOrders } from '../../sample-app/demo/load.js';
import { report } from '../../sample-app/demo/report.js';
import { ServerProcess } from '../../sample-app/demo/server-process.js';
import { table } from '../../sample-app/demo/table.js';

const never = new AbortController().signal;

describe('percentile', () => {
  const hundred = Array.from({ length: 100 }, (_, index) => index + 1);

  it.each([
    [hundred, 50, 50],
    [hundred, 99, 99],
    [hundred, 100, 100],
    [[7], 50, 7],
    [[7, 8], 99, 8],
    [[7, 8, 9], 50, 8],
  ])('is a value that was measured', (sorted, percent, expected) => {
    expect(percentile(sorted, percent)).toBe(expected);
  });
});

describe('table', () => {
  it('aligns the first column to the left and the others to the right', () => {
    const rows = [
      { mode: 'without lock', sold: 300, wait: '9 ms' },
      { mode: 'with lock', sold: 7, wait: '310 ms' },
    ];
    expect(table(rows).split('\n')).toEqual([
      'mode          sold    wait',
      'without lock   300    9 ms',
      'with lock        7  310 ms',
    ]);
  });
});

describe('report', () => {
  it('shows both runs side by side', () => {
    const result = { oversold: 0, left: 0, perSecond: 81.7, waitP50: 400.2, waitP99: 2000.9 };
    const locked = { ...result, sold: 100 };
    const unlocked = { ...result, sold: 300, oversold: 200, left: 90 };
    const lines = report({ processes: 3, store: 'redis', unlocked, locked }).split('\n');
    const cells = lines.slice(0, 3).map((line) => line.split(/ {2,}/));
    expect(cells[0]).toEqual(
      'mode,processes,store,requests,stock,sold,oversold,requests/s,wait p50,wait p99'.split(','),
    );
    expect(cells[1]!.slice(5, 8)).toEqual(['300', '200', '82']);
    expect(cells[2]!.slice(5)).toEqual(['100', '0', '82', '400 ms', '2001 ms']);
  });
});

describe('sendOrders', () => {
  async function shop(statuses: readonly number[]) {
    let served = 0;
    let now = 0;
    let most = 0;
    const server = createServer((_request, response) => {
      most = Math.max(most, ++now);
      setImmediate(() => {
        now -= 1;
        response.writeHead(statuses[served++ % statuses.length]!).end('…');
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return {
      url,
      served: () => served,
      most: () => most,
      [Symbol.asyncDispose]: async () => {
        server.closeAllConnections();
        server.close();
        await once(server, 'close');
      },
    };
  }

  const load = { path: '/orders/lamp', requests: 20, concurrency: 4, signal: never };

  it('goes to all processes in turn, so many at a time, and counts what was sold', async () => {
    await using first = await shop([201, 409]);
    await using second = await shop([409]);
    const { confirmed, waits, perSecond } = await sendOrders({
      ...load,
      urls: [first.url, second.url],
    });
    expect([first.served(), second.served()]).toEqual([10, 10]);
    expect(first.most() + second.most()).toBeLessThanOrEqual(8);
    expect(confirmed).toBe(5);
    expect(waits).toHaveLength(20);
    expect(waits).toEqual(waits.toSorted((a, b) => a - b));
    expect(perSecond).toBeGreaterThan(0);
  });

  it('fails on any other answer', async () => {
    await using broken = await shop([503]);
    await expect(sendOrders({ ...load, urls: [broken.url] })).rejects.toThrow(/503 …/);
  });
});

describe('ServerProcess', () => {
  const run = (script: string, signal = never) =>
    ServerProcess.start(process.execPath, ['-e', script], { ready: /^port (\d+)$/, signal });

  it('is there as soon as its process says so, and ends with it', async () => {
    const server = await run(`
      process.on('SIGTERM', () => process.exit());
      console.log('pid', process.pid, '\\nport 4711');
      setInterval(() => console.log('x'.repeat(100_000)), 1);`);
    expect(server.match[1]).toBe('4711');
    await server[Symbol.asyncDispose]();
    await expect(server[Symbol.asyncDispose]()).resolves.toBeUndefined();
  });

  it('rejects when the process ends before', async () => {
    await expect(run('console.log("port unknown")')).rejects.toThrow(/ended before it served/);
  });

  it('rejects when there is no such program', async () => {
    const start = ServerProcess.start('/no/such/program', [], { ready: /./, signal: never });
    await expect(start).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('ends the process that the demo has left', async () => {
    const interrupted = new AbortController();
    const start = run('setInterval(() => {}, 1_000)', interrupted.signal);
    interrupted.abort(new Error('Ctrl-C'));
    await expect(start).rejects.toThrow('Ctrl-C');
  });
});
