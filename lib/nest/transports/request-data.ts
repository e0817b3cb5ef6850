import type { ExecutionContext } from '@nestjs/common';

/* eslint-disable @typescript-eslint/no-explicit-any -- requests have the shape that the transport gives them */

/**
 * The fields that `<request.…>` reads: `params`, `body`, `query`, `headers`, `user` and everything else on an HTTP request
 * (Express and Fastify alike); `args` besides for GraphQL; `data` for messages. No transport package is imported.
 */
export function requestData(context: ExecutionContext): unknown {
  switch (context.getType<string>()) {
    case 'http':
      return context.switchToHttp().getRequest();
    case 'graphql':
      return graphqlRequest(context.getArgs());
    case 'rpc':
      return { data: context.switchToRpc().getData<unknown>() };
    case 'ws':
      return webSocketRequest(context);
    default:
      return { args: context.getArgs() };
  }
}

/** Whether the handler is a subscription of GraphQL, which iterates over its result. */
export function isSubscription(context: ExecutionContext): boolean {
  if (context.getType<string>() !== 'graphql') return false;
  const [, , , info] = context.getArgs();
  return info?.operation?.operation === 'subscription' && info.path?.prev === undefined;
}

/**
 * Resolvers are called with root, arguments, context and info. The context has the request by convention only; of `graphql-ws`,
 * it is behind `extra`.
 */
function graphqlRequest([, args, context]: any[]): unknown {
  const upgrade = context?.extra ?? context?.req?.extra;
  const request = upgrade?.request ?? context?.req ?? context?.request;
  return Object.assign(Object.create(request ?? null), {
    args,
    user: context?.user ?? request?.user,
  });
}

function webSocketRequest(context: ExecutionContext): unknown {
  const client = context.switchToWs().getClient();
  return {
    data: context.switchToWs().getData<unknown>(),
    headers: client?.handshake?.headers ?? client?.upgradeReq?.headers,
    user: client?.user ?? client?.data?.user,
    client,
  };
}
