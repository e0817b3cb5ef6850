/** Makes a check whose errors begin with `label`: `@DistributedLock on OrdersService.pay`. */
export function labelled<T>(label: string, check: () => T): T {
  try {
    return check();
  } catch (error) {
    throw withLabel(label, error);
  }
}

/** A new one, for the stack of an error has its words already. */
function withLabel(label: string, error: unknown): unknown {
  if (error instanceof RangeError) return new RangeError(`${label}: ${error.message}`);
  if (error instanceof TypeError) return new TypeError(`${label}: ${error.message}`);
  return error;
}
