import { InvalidSkuError } from './stock-errors.js';

/** The number of an article, which is also the name of a file. Throws `InvalidSkuError`. */
export function checkedSku(value: string): string {
  if (!/^[a-z0-9-]{1,64}$/.test(value)) throw new InvalidSkuError(value);
  return value;
}
