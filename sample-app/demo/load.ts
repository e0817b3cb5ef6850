export interface Load {
  readonly urls: readonly string[];
  readonly path: string;
  readonly requests: number;
  /** Requests that are under way at any time. */
  readonly concurrency: number;
  readonly signal: AbortSignal;
}

export interface LoadResult {
  readonly confirmed: number;
  readonly perSecond: number;
  /** Milliseconds from each request to its answer, in ascending order. */
  readonly waits: readonly number[];
}

/** Sends orders to all processes in turn. Rejects on an answer that is neither "sold" nor "not sold". */
export async function sendOrders({
  urls,
  path,
  requests,
  concurrency,
  signal,
}: Load): Promise<LoadResult> {
  const waits: number[] = [];
  let sent = 0;
  let confirmed = 0;
  const client = async () => {
    while (sent < requests) {
      const url = urls[sent++ % urls.length]! + path;
      const sentAt = performance.now();
      const response = await fetch(url, { method: 'POST', signal });
      const answer = await response.text();
      waits.push(performance.now() - sentAt);
      if (response.status === 201) confirmed++;
      else if (response.status !== 409) throw new Error(`${url}: ${response.status} ${answer}`);
    }
  };
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: concurrency }, client));
  const seconds = (performance.now() - startedAt) / 1_000;
  return {
    confirmed,
    perSecond: requests / seconds,
    waits: waits.toSorted((one, other) => one - other),
  };
}

/** The value that `percent` of the `sorted` ones do not exceed. */
export function percentile(sorted: readonly number[], percent: number): number {
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] ?? NaN;
}
