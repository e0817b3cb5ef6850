import 'reflect-metadata';
import { Observable } from 'rxjs';
import { lockPlanOf } from './lock-plan.js';
import type { LockPlan, ReturnKind } from './lock-plan.js';

/** The metadata key of a method's annotation by TypeScript. esbuild and others leave nothing. */
const RETURN_TYPE = 'design:returntype';

/**
 * By the kind of function (a locked one knows that of its method), then by the annotated return type, which TypeScript emits as
 * metadata.
 */
export function returnKind(
  label: string,
  target: object,
  property: string | symbol,
  method: Function,
): ReturnKind {
  const plan = lockPlanOf(method);
  if (plan) return plan.returns;
  const kind = Object.prototype.toString.call(method).slice(8, -1);
  if (kind === 'AsyncGeneratorFunction') return 'iterable';
  const annotated = Reflect.getMetadata(RETURN_TYPE, target, property) as unknown;
  const isSync = [String, Number, Boolean].some((type) => type === annotated);
  if (kind === 'GeneratorFunction' || isSync) {
    throw new TypeError(
      `${label}: a locked method must return a Promise, an Observable or an async iterable`,
    );
  }
  return isObservableClass(annotated) ? 'observable' : 'promise';
}

/** Advice for a method that returns an Observable. An annotation is of no use where the build drops it. */
export function adviceForStreams(instance: object, { property }: LockPlan): string {
  if (Reflect.hasMetadata(RETURN_TYPE, instance, property)) {
    return "annotate its return type as Observable<…>, or set returns: 'observable'";
  }
  return "set returns: 'observable', for this build leaves nothing of annotations (emitDecoratorMetadata)";
}

/** Nest's `PATTERN_METADATA` and `MESSAGE_MAPPING_METADATA`, of handlers that answer with promises and Observables only. */
const MESSAGES = ['microservices:pattern', 'websockets:message_mapping'];

/** Throws `TypeError` for a result that no caller would iterate over: the key would stay locked, or the work would never run. */
export function refuseIterableMessages(label: string, method: Function): void {
  if (!MESSAGES.some((key) => Reflect.hasMetadata(key, method))) return;
  throw new TypeError(
    `${label}: Nest does not send what a handler of messages yields; return an Observable, or a promise`,
  );
}

function isObservableClass(type: unknown): boolean {
  return (
    typeof type === 'function' && (type === Observable || type.prototype instanceof Observable)
  );
}
