import { printable } from '../text/printable.js';
import { inRootContext } from './root-context.js';

/** Emits a process warning. Applications filter by `code`. */
export function warn(message: string, code?: string): void {
  const line = printable(message);
  inRootContext(() =>
    code === undefined ? process.emitWarning(line) : process.emitWarning(line, { code }),
  );
}
