import type { ExecutionContext } from '@nestjs/common';

/* eslint-disable @typescript-eslint/no-explicit-any -- requests have the shape that the transport gives them */

/**
 * What `<request.…>` reads: `params`, `body`, `query`, `headers`, `user` and everything else on an HTTP request (Express and
 * Fastify alike); `args` besides for GraphQL; `data` for messages. No transport package is imported.
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

/** Resolvers are called with root, arguments, context and info; the context carries the request by convention only. */
function graphqlRequest([, args, context]: any[]): unknown {
  const request = context?.req ?? context?.request ?? context?.extra?.request;
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
