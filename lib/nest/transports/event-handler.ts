import 'reflect-metadata';
import type { ExecutionContext } from '@nestjs/common';

/** Nest's `PATTERN_HANDLER_METADATA`, and its value for `@EventPattern`. */
const HANDLER_TYPE = 'microservices:handler_type';
const EVENT = 2;

/** Whether the handler is called with an event of a microservice, which has no answer. */
export function handlesEvent(context: ExecutionContext): boolean {
  if (context.getType<string>() !== 'rpc') return false;
  return Reflect.getMetadata(HANDLER_TYPE, context.getHandler()) === EVENT;
}
