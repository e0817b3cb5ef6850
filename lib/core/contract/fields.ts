export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

/** `undefined`: a proxy that was revoked, of which nothing can be known. */
export function isList(value: unknown): boolean | undefined {
  try {
    return Array.isArray(value);
  } catch {
    return undefined;
  }
}

/** Anything but an object has none, nor has a proxy that was revoked. */
export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return isObject(value) && isList(value) !== undefined ? value : {};
}
