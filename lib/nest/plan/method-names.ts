import { MetadataScanner } from '@nestjs/core';

/** Of a class and those that it extends, symbols included. */
export function methodNames(prototype: object | null): (string | symbol)[] {
  const symbols = new Set<symbol>();
  for (let each = prototype; each && each !== Object.prototype; each = parentOf(each))
    for (const symbol of Object.getOwnPropertySymbols(each)) {
      const { value } = Object.getOwnPropertyDescriptor(each, symbol)!;
      if (typeof value === 'function') symbols.add(symbol);
    }
  return [...new MetadataScanner().getAllMethodNames(prototype), ...symbols];
}

function parentOf(prototype: object): object | null {
  return Object.getPrototypeOf(prototype) as object | null;
}
