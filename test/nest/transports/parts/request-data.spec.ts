import { handlesEvent } from '../../../../lib/nest/transports/event-handler';
import { isSubscription, requestData } from '../../../../lib/nest/transports/request-data';
import { contextOf } from '../../support/fake-context';

const graphql = (...args: unknown[]) => contextOf({ type: 'graphql', args });

describe('The fields that a key reads', () => {
  const request = { params: { id: '1' }, user: 'of the request' };

  it('are those of the request', () => {
    expect(requestData(contextOf({ args: [request] }))).toBe(request);
  });

  it.each([
    ['the context', { req: request }],
    ['another name in the context', { request }],
    ['the upgrade', { extra: { request }, req: {} }],
    ['the upgrade behind the request', { req: { extra: { request } } }],
  ])('are those of the request, and the arguments, of a resolver: in %s', (_, context) => {
    const data = requestData(graphql({}, { id: '7' }, context)) as typeof request & object;
    expect(data).toMatchObject({ args: { id: '7' }, user: 'of the request' });
    expect(data.params).toBe(request.params);
  });

  it('are the arguments and the user of a resolver without a request', () => {
    expect(requestData(graphql({}, { id: '7' }, { user: 'u' }))).toEqual({ args: { id: '7' }, user: 'u' }); // prettier-ignore
    expect(requestData(graphql({}, { id: '7' }))).toEqual({ args: { id: '7' }, user: undefined });
    const both = graphql({}, {}, { user: 'u', req: request });
    expect(requestData(both)).toMatchObject({ user: 'u' });
  });

  it('are the data of a message', () => {
    expect(requestData(contextOf({ type: 'rpc', args: [{ id: '7' }] }))).toEqual({ data: { id: '7' } }); // prettier-ignore
  });

  it.each<[string, object | undefined, object]>([
    ['Socket.IO', { handshake: { headers: { a: '1' } }, data: { user: 'u' } }, { headers: { a: '1' }, user: 'u' }], // prettier-ignore
    ['`ws`', { upgradeReq: { headers: { a: '1' } }, user: 'u' }, { headers: { a: '1' }, user: 'u' }], // prettier-ignore
    ['a socket that tells nothing', {}, { headers: undefined, user: undefined }],
    ['no socket', undefined, { headers: undefined, user: undefined }],
  ])('are the data, the client and its headers over %s', (_, client, fields) => {
    const data = requestData(contextOf({ type: 'ws', args: [client, { id: '7' }] }));
    expect(data).toEqual({ data: { id: '7' }, client, ...fields });
  });

  it('are the arguments of any other call', () => {
    expect(requestData(contextOf({ type: 'commander', args: [1, 2] }))).toEqual({ args: [1, 2] });
  });
});

describe('A handler', () => {
  const info = (operation: string, prev?: object) => ({ operation: { operation }, path: { prev } });
  it.each([
    [true, graphql({}, {}, {}, info('subscription'))],
    [false, graphql({}, {}, {}, info('query'))],
    [false, graphql({}, {}, {}, info('subscription', {}))],
    [false, graphql({}, {}, {})],
    [false, graphql({}, {}, {}, {})],
    [false, contextOf({ args: [{}, {}, {}, info('subscription')] })],
  ])('is a subscription: %s', (expected, context) => {
    expect(isSubscription(context)).toBe(expected);
  });

  const marked = (value: number) => {
    const handler = () => {};
    Reflect.defineMetadata('microservices:handler_type', value, handler);
    return handler;
  };
  it.each([
    [true, contextOf({ type: 'rpc', handler: marked(2) })],
    [false, contextOf({ type: 'rpc', handler: marked(1) })],
    [false, contextOf({ type: 'rpc' })],
    [false, contextOf({ type: 'http', handler: marked(2) })],
  ])('handles an event: %s', (expected, context) => {
    expect(handlesEvent(context)).toBe(expected);
  });
});
