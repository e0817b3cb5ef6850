import { EventEmitter } from 'node:events';
import type { ExecutionContext } from '@nestjs/common';
import { EventPattern, MessagePattern } from '@nestjs/microservices';
import { clientConnection, onceClientGone } from '../../../../lib/nest/transports/client-gone.js';

/** An `ExecutionContext` of servers that are not installed here. */
function context(
  type: 'ws' | 'graphql' | 'rpc',
  args: unknown[],
  handler: Function = () => {},
): ExecutionContext {
  return {
    getType: () => type,
    getArgs: () => args,
    getHandler: () => handler,
    switchToWs: () => ({ getClient: () => args[0] }),
    switchToRpc: () => ({ getContext: () => args[1] }),
  } as unknown as ExecutionContext;
}

/** The events that tell of a client's leaving. */
function watch(of: ExecutionContext) {
  const leave = jest.fn();
  const forget = onceClientGone(clientConnection(of)!, leave);
  return { leave, forget };
}

describe('the connection that tells of a client that goes away', () => {
  it('is the client of Socket.IO, whose farewell is a disconnect', () => {
    const client = Object.assign(new EventEmitter(), { handshake: {}, disconnected: false });
    const { leave } = watch(context('ws', [client, {}]));
    client.emit('close'); // a message that has this name
    expect(leave).not.toHaveBeenCalled();
    client.emit('disconnect');
    expect(leave).toHaveBeenCalledTimes(1);
    client.disconnected = true;
    expect(watch(context('ws', [client, {}])).leave).toHaveBeenCalledTimes(1);
  });

  it.each<[string, (connection: EventEmitter) => object]>([
    ['res', (res) => ({ res })],
    ['reply, as Mercurius has it', (raw) => ({ reply: { raw } })],
    ['req, as Fastify has it', (socket) => ({ req: { socket } })],
    ['request', (res) => ({ request: { res } })],
  ])('is found in the context of GraphQL by %s', (_by, graphql) => {
    const connection = new EventEmitter();
    const { leave } = watch(context('graphql', [{}, {}, graphql(connection), {}]));
    connection.emit('close');
    expect(leave).toHaveBeenCalledTimes(1);
  });

  it.each([
    ['GraphQL without a request', context('graphql', [{}, {}, undefined, {}])],
    ['a broker', context('rpc', [{}, { getChannel: () => 'orders' }])],
    ['a message without context', context('rpc', [{}, undefined])],
  ])('is nowhere: %s', (_what, nowhere) => {
    expect(clientConnection(nowhere)).toBeUndefined();
  });

  it('is that of a caller over TCP, and none for an event, which is handled all the same', () => {
    class Handlers {
      @MessagePattern('asked')
      asked() {}

      @EventPattern('happened')
      happened(_event: unknown) {}
    }
    const { asked, happened } = Handlers.prototype as unknown as Record<string, Function>;
    const netSocket = new EventEmitter();
    const args = [{}, { getSocketRef: () => ({ netSocket }) }];
    expect(clientConnection(context('rpc', args, asked))).toBe(netSocket);
    expect(clientConnection(context('rpc', args, happened))).toBeUndefined();
  });

  it('has forgotten who waits no more', () => {
    const client = new EventEmitter();
    const first = watch(context('ws', [client, {}]));
    const second = watch(context('ws', [client, {}]));
    first.forget();
    client.emit('close');
    expect(first.leave).not.toHaveBeenCalled();
    expect(second.leave).toHaveBeenCalledTimes(1);
    expect(client.eventNames()).toEqual([]);
  });
});
