/** The names of the instances whose locks failed, by the error: `undefined` is the instance without a name. */
const origins = new WeakMap<object, { readonly locks: string | undefined }>();

/** The same error, which is then known to be of the instance that is called `locks`. */
export function ofLocks(locks: string | undefined, error: unknown): unknown {
  if (typeof error === 'object' && error !== null) origins.set(error, { locks });
  return error;
}

/** The instance whose lock an error is about; `otherwise`, where no decorated method has thrown it. */
export function originOf(error: object, otherwise: string | undefined): string | undefined {
  const origin = origins.get(error);
  return origin ? origin.locks : otherwise;
}
