/** Makes a check whose errors begin with `label`: `@DistributedLock on OrdersService.pay`. */
export function withLabel<T>(label: string, check: () => T): T {
  try {
    return check();
  } catch (error) {
    throw relabelled(label, error);
  }
}

/** A new one, for the stack of an error contains its message already. It keeps its `code`. */
function relabelled(label: string, error: unknown): unknown {
  if (!(error instanceof TypeError) && !(error instanceof RangeError)) return error;
  const kind = error instanceof RangeError ? RangeError : TypeError;
  return Object.assign(new kind(`${label}: ${error.message}`), error);
}
