import { RedisScript } from '../../../../lib/redis-client/redis-script.js';
import { ScriptRunner } from '../../../../lib/stores/redis/send/script-runner.js';
import { rejectionOf } from '../../../core/support/outcome.js';

/** A client whose replicas acknowledge some writes. */
class FakeClient {
  stream: object = {};
  readonly sent: string[] = [];
  acknowledged: unknown = 1;
  reply: unknown = 1;
  /** While WAIT is under way. */
  meanwhile = () => {};
  readonly evalsha = (_hash: string, _count: number, ...keys: unknown[]) => this.#run(keys);
  readonly eval = (_script: string, _count: number, ...keys: unknown[]) => this.#run(keys);
  readonly #run = async (keys: unknown[]) => (
    this.sent.push(`script ${keys.join(' ')}`),
    this.reply
  );
  readonly wait = async (replicas: number, ms: number) => {
    this.sent.push(`wait ${replicas} ${ms}`);
    this.meanwhile();
    if (this.acknowledged instanceof Error) throw this.acknowledged;
    return this.acknowledged as number;
  };
}

describe('A script of a store', () => {
  let client: FakeClient;
  let script: RedisScript;
  let asked: number;

  beforeEach(() => {
    client = new FakeClient();
    script = new RedisScript('return 1');
    asked = 0;
  });

  function runnerOf(replicas: number, options = {}): ScriptRunner {
    const silence = { asked: () => void asked++, isAsked: false };
    const all = Object.assign(client, options);
    return new ScriptRunner(all, { replicas, replicaTimeout: 300 }, false, () => 0, silence);
  }

  const change = (runner: ScriptRunner, failed?: (error: unknown) => never) =>
    runner.change(script, ['lock:a'], ['x'], (reply) => reply, failed);

  it('goes out after what was to go before it, and is told of', async () => {
    const runner = runnerOf(0);
    runner.sendFirst(() => client.sent.push('before'));
    expect(await runner.run(script, ['lock:a'], ['x'], (reply) => reply)).toBe(1);
    expect(client.sent).toEqual(['before', 'script lock:a x']);
    expect(asked).toBe(1);
    const silence = { asked: () => void asked++, isAsked: true };
    await new ScriptRunner(client as never, { replicas: 0, replicaTimeout: 300 }, false, () => 0, silence).run(script, [], [], String); // prettier-ignore
    expect(asked).toBe(1);
  });

  it('waits for replicas where it changed something', async () => {
    expect(await change(runnerOf(1))).toBe(1);
    expect(client.sent).toEqual(['script lock:a x', 'wait 1 300']);
    expect(asked).toBe(1);
    client.reply = 0;
    expect(await change(runnerOf(1))).toBe(0);
    expect(client.sent).toHaveLength(3);
  });

  it('waits for none where none are wanted', async () => {
    await change(runnerOf(0));
    expect(client.sent).toEqual(['script lock:a x']);
  });

  it.each([
    ['too few acknowledge it', 1, '1 of 2 replicas acknowledged within 300 ms'],
    ['WAIT is refused', new Error('NOPERM wait'), 'NOPERM wait'],
    ['WAIT answers nonsense', 'soon', 'not understood'],
  ])('fails where %s', async (_, acknowledged, text) => {
    client.acknowledged = acknowledged;
    const failed = jest.fn((error: unknown): never => {
      throw error;
    });
    expect(await rejectionOf(change(runnerOf(2), failed))).toMatchObject({ message: expect.stringContaining(text) }); // prettier-ignore
    expect(failed).toHaveBeenCalledTimes(1);
  });

  it('is acknowledged by as many as are wanted, or more', async () => {
    for (const acknowledged of [2, 3, '2']) {
      client.acknowledged = acknowledged;
      expect(await change(runnerOf(2))).toBe(1);
    }
  });

  it('fails where the connection was lost before its replicas had it', async () => {
    client.meanwhile = () => (client.stream = {});
    expect(await rejectionOf(change(runnerOf(1)))).toMatchObject({ message: 'the connection was lost during WAIT' }); // prettier-ignore
  });

  it('waits on a Cluster on the connection to the master of its key', async () => {
    const master = Object.assign(new FakeClient(), { options: { host: 'redis', port: 1 } });
    const nothing = () => {};
    const cluster = { isCluster: true, slots: [['redis:1']], nodes: () => [master], on: nothing, off: nothing }; // prettier-ignore
    expect(await change(runnerOf(1, cluster))).toBe(1);
    expect([client.sent, master.sent]).toEqual([[], ['script lock:a x', 'wait 1 300']]);
    expect(await change(runnerOf(0, { ...cluster, slots: undefined }))).toBe(1);
    expect(client.sent).toEqual(['script lock:a x']);
  });
});
