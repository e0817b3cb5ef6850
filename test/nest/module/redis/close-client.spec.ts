import type { GivenClient } from '../../../../lib/redis-client/clients/client-of';
import { closeGivenClient } from '../../../../lib/nest/module/redis/close-client';
import { watch } from '../../../core/support/outcome';
import { settled } from '../../../stores/redlock/support/stub-quorum';

const never = () => new Promise<never>(() => {});
const ofIoredis = (fields: object) => ({ evalsha: () => {}, status: 'ready', ...fields });

/** A client of node-redis with these methods. */
function ofNodeRedis(fields: object) {
  const methods = ['duplicate', 'connect', 'subscribe', 'withTypeMapping', 'on', 'off'];
  const client = {
    ...Object.fromEntries(methods.map((method) => [method, () => {}])),
    isPubSubActive: false,
    isOpen: true,
    sendCommand: jest.fn().mockResolvedValue('PONG'),
    destroy: jest.fn(),
    ...fields,
  };
  return client;
}

function aSentinel(fields: object) {
  const methods = ['getSentinelNode', '_execute', 'connect', 'on', 'off'];
  const client = { ...Object.fromEntries(methods.map((method) => [method, () => {}])), ...fields };
  return client;
}

function aCluster(fields: object) {
  const methods = ['nodeClient', 'duplicate', 'connect', 'on', 'off'];
  const client = {
    ...Object.fromEntries(methods.map((method) => [method, () => {}])),
    _options: { rootNodes: [] },
    ...fields,
  };
  return client;
}

describe('The client that a module has made', () => {
  beforeEach(() => void jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick'] }));
  afterEach(() => jest.useRealTimers());

  /** Whether it is closed before a second has passed, and after it. */
  async function closing(client: object) {
    const closed = watch(closeGivenClient(client as GivenClient));
    await settled();
    await jest.advanceTimersByTimeAsync(999);
    await settled();
    const before = closed.status;
    await jest.advanceTimersByTimeAsync(1);
    await settled();
    await settled();
    return [before, closed.status];
  }

  it('of ioredis says goodbye, and is disconnected then', async () => {
    const disconnect = jest.fn();
    const quit = jest.fn().mockResolvedValue('OK');
    expect(await closing(ofIoredis({ quit, disconnect }))).toEqual(['fulfilled', 'fulfilled']);
    expect([quit.mock.calls.length, disconnect.mock.calls.length]).toEqual([1, 1]);
  });

  it.each([
    ['whose connection is gone', () => Promise.reject(new Error('Connection is closed.'))],
    ['without a goodbye', undefined],
  ])('of ioredis %s is disconnected at once', async (_, quit) => {
    const disconnect = jest.fn();
    expect(await closing(ofIoredis({ quit, disconnect }))).toEqual(['fulfilled', 'fulfilled']);
    expect(disconnect).toHaveBeenCalledTimes(1);
  });

  it('of ioredis that gets no answer is disconnected after a second', async () => {
    const disconnect = jest.fn();
    expect(await closing(ofIoredis({ quit: never, disconnect }))).toEqual(['pending', 'fulfilled']);
    expect(disconnect).toHaveBeenCalledTimes(1);
    expect(await closing(ofIoredis({ quit: never }))).toEqual(['pending', 'fulfilled']);
  });

  it('of node-redis is closed after the commands that it has sent', async () => {
    const client = ofNodeRedis({});
    expect(await closing(client)).toEqual(['fulfilled', 'fulfilled']);
    expect(client.sendCommand.mock.calls).toEqual([[['PING']]]);
    expect(client.destroy).toHaveBeenCalledTimes(1);
  });

  it('of node-redis is closed after a second where its server hangs', async () => {
    const client = ofNodeRedis({ sendCommand: never });
    expect(await closing(client)).toEqual(['pending', 'fulfilled']);
    expect(client.destroy).toHaveBeenCalledTimes(1);
  });

  it('of node-redis that is not open is asked nothing', async () => {
    const client = ofNodeRedis({ isOpen: false });
    expect(await closing(client)).toEqual(['fulfilled', 'fulfilled']);
    expect(client.sendCommand).not.toHaveBeenCalled();
  });

  it.each([
    ['that is open', true, 1],
    ['that is closed', false, 0],
  ])('of a Sentinel %s is destroyed, or left', async (_, isOpen, times) => {
    const destroy = jest.fn().mockResolvedValue(undefined);
    expect(await closing(aSentinel({ isOpen, destroy }))).toEqual(['fulfilled', 'fulfilled']);
    expect(destroy).toHaveBeenCalledTimes(times);
  });

  it('of a Sentinel is waited for no longer than a second', async () => {
    expect(await closing(aSentinel({ isOpen: true, destroy: never }))).toEqual(['pending', 'fulfilled']); // prettier-ignore
  });

  it('of a Cluster is destroyed when its nodes have answered, also those that fail', async () => {
    const destroy = jest.fn();
    const sendCommand = jest.fn().mockResolvedValueOnce('PONG').mockRejectedValue(new Error('x'));
    const masters = [{ client: { sendCommand } }, { client: { sendCommand } }, {}];
    expect(await closing(aCluster({ isOpen: true, masters, destroy }))).toEqual(['fulfilled', 'fulfilled']); // prettier-ignore
    expect(sendCommand.mock.calls).toEqual([[['PING']], [['PING']]]);
    expect(destroy).toHaveBeenCalledTimes(1);
  });

  it('of a Cluster is destroyed after a second where a node hangs', async () => {
    const destroy = jest.fn();
    const masters = [{ client: { sendCommand: never } }];
    expect(await closing(aCluster({ isOpen: true, masters, destroy }))).toEqual(['pending', 'fulfilled']); // prettier-ignore
    expect(destroy).toHaveBeenCalledTimes(1);
  });

  it('of a Cluster that is closed is left', async () => {
    const destroy = jest.fn();
    expect(await closing(aCluster({ isOpen: false, destroy }))).toEqual(['fulfilled', 'fulfilled']);
    expect(destroy).not.toHaveBeenCalled();
  });
});
