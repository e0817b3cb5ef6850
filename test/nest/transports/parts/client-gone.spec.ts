import { EventEmitter } from 'node:events';
import {
  clientConnection,
  ClientGoneException,
  onceClientGone,
} from '../../../../lib/nest/transports/client-gone';
import { contextOf } from '../../support/fake-context';

const connection = (fields: object = {}) => Object.assign(new EventEmitter(), fields);
const graphql = (context: unknown) => contextOf({ type: 'graphql', args: [{}, {}, context] });

describe('The connection of a client', () => {
  const own = connection();
  const event = () => {};
  Reflect.defineMetadata('microservices:handler_type', 2, event);

  it.each([
    ['is the response of Express', contextOf({ args: [{}, own] })],
    ['is the response inside the reply of Fastify', contextOf({ args: [{}, { raw: own }] })],
    ['is the socket of `graphql-ws`', graphql({ extra: { socket: own } })],
    ['is the socket of `graphql-ws` behind the request', graphql({ req: { extra: { socket: own } } })], // prettier-ignore
    ['is the response in the context of GraphQL', graphql({ res: own })],
    ['is the reply in the context of GraphQL', graphql({ reply: { raw: own } })],
    ['is the response of the request of Express', graphql({ req: { res: own, socket: {} } })],
    ['is the response of another request', graphql({ request: { res: own } })],
    ['is the socket of the request of Fastify', graphql({ req: { socket: own } })],
    ['is the client of a gateway', contextOf({ type: 'ws', args: [own] })],
    [
      'is the socket of a message over TCP',
      contextOf({ type: 'rpc', args: [{}, { getSocketRef: () => ({ netSocket: own }) }] }),
    ],
  ])('%s', (_, context) => {
    expect(clientConnection(context)).toBe(own);
  });

  it.each([
    ['a response that tells nothing', contextOf({ args: [{}, {}] })],
    ['HTTP without a response', contextOf({ args: [{}] })],
    ['GraphQL without a context', graphql(undefined)],
    ['a context of GraphQL that has no request', graphql({ extra: {} })],
    ['a message behind a broker', contextOf({ type: 'rpc', args: [{}, {}] })],
    ['a message without a context', contextOf({ type: 'rpc', args: [{}] })],
    [
      'an event over TCP, whose sender may leave',
      contextOf({
        type: 'rpc',
        args: [{}, { getSocketRef: () => ({ netSocket: own }) }],
        handler: event,
      }),
    ],
    ['another transport', contextOf({ type: 'commander', args: [own, own, { res: own }] })],
  ])('is unknown for %s', (_, context) => {
    expect(clientConnection(context)).toBeUndefined();
  });
});

describe('A call of a client', () => {
  it.each([
    ['a response', {}, 'close', 'disconnect'],
    ['a socket of Socket.IO', { handshake: {} }, 'disconnect', 'close'],
  ])('hears that it goes away, of %s', (_, fields, farewell, other) => {
    const own = connection(fields);
    const leave = jest.fn();
    onceClientGone(own, leave);
    own.emit(other);
    expect(leave).not.toHaveBeenCalled();
    own.emit(farewell);
    expect(leave).toHaveBeenCalledTimes(1);
  });

  it.each([
    ['destroyed', { destroyed: true }],
    ['a closed stream of HTTP/2', { stream: { closed: true } }],
    ['disconnected', { disconnected: true, handshake: {} }],
    ['closing', { readyState: 2 }],
    ['closed', { readyState: 3 }],
  ])('hears at once where it has gone already: %s', (_, fields) => {
    const leave = jest.fn();
    onceClientGone(connection(fields), leave);
    expect(leave).toHaveBeenCalledTimes(1);
  });

  it.each([
    ['open', { readyState: 1 }],
    ['a socket of Node, which has words', { readyState: 'open', destroyed: false }],
    ['connected', { disconnected: false }],
  ])('hears nothing while it is there: %s', (_, fields) => {
    const leave = jest.fn();
    onceClientGone(connection(fields), leave);
    expect(leave).not.toHaveBeenCalled();
  });

  it('shares one listener with the others of its connection, until it ends', () => {
    const own = connection();
    const leaves = [jest.fn(), jest.fn()];
    const [forget] = leaves.map((leave) => onceClientGone(own, leave));
    expect(own.listenerCount('close')).toBe(1);
    forget!();
    own.emit('close');
    expect(leaves.map(({ mock }) => mock.calls.length)).toEqual([0, 1]);
  });

  it('ends with a status that no client reads', () => {
    const error = new ClientGoneException();
    expect([error.getStatus(), error.message]).toEqual([499, 'Client closed request']);
  });
});
