/** Whether `decodeURIComponent` does not throw. Its result is read, for bundlers drop a call whose result nothing uses. */
export function isDecodable(text: string): boolean {
  try {
    return decodeURIComponent(text).length >= 0;
  } catch {
    return false;
  }
}
