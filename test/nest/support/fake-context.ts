import type { ExecutionContext, Type } from '@nestjs/common';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host';

interface Called {
  readonly type?: string;
  readonly args?: readonly unknown[];
  readonly handler?: Function;
  readonly of?: Type;
}

class Handlers {}

/** The context in which Nest calls a handler: of HTTP with the request and the response as arguments, unless it says otherwise. */
export function contextOf({ type = 'http', args = [], handler = () => {}, of = Handlers }: Called) {
  const context = new ExecutionContextHost([...args], of, handler);
  context.setType(type);
  return context as ExecutionContext;
}
