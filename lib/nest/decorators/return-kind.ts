import 'reflect-metadata';
import { Observable } from 'rxjs';
import type { ReturnKind } from './lock-plan.js';

/** By the kind of function, then by the annotated return type, which TypeScript emits as metadata. */
export function returnKind(
  label: string,
  target: object,
  property: string | symbol,
  method: Function,
): ReturnKind {
  const kind = Object.prototype.toString.call(method).slice(8, -1);
  if (kind === 'AsyncGeneratorFunction') return 'iterable';
  const annotated = Reflect.getMetadata('design:returntype', target, property) as unknown;
  const isSync = [String, Number, Boolean].some((type) => type === annotated);
  if (kind === 'GeneratorFunction' || isSync) {
    throw new TypeError(
      `${label}: a locked method must return a Promise, an Observable or an async iterable`,
    );
  }
  return isObservableClass(annotated) ? 'observable' : 'promise';
}

function isObservableClass(type: unknown): boolean {
  return (
    typeof type === 'function' && (type === Observable || type.prototype instanceof Observable)
  );
}
