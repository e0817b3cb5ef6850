/** The fields by which a response is known to be over. */
export interface ClosableResponse {
  /** Of HTTP/1. */
  readonly destroyed?: boolean | undefined;
  /** Of HTTP/2. */
  readonly stream?: { readonly closed?: boolean } | undefined;
}

export function isClosed({ destroyed, stream }: ClosableResponse): boolean {
  return destroyed ?? stream?.closed ?? false;
}
