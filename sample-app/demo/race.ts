import { percentile, sendOrders } from './load.js';
import type { LoadResult } from './load.js';

export const UNITS = 100;
export const REQUESTS = 300;
const CONCURRENCY = 48;

export interface Race {
  readonly sku: string;
  /** Where orders are sent, behind the article. */
  readonly route: '' | '/unlocked';
}

export interface RaceResult {
  readonly sold: number;
  readonly oversold: number;
  /** What the stock says afterwards. */
  readonly left: number;
  readonly perSecond: number;
  readonly waitP50: number;
  readonly waitP99: number;
}

/** More orders than units, all at once. */
export async function race(
  { sku, route }: Race,
  urls: readonly string[],
  signal: AbortSignal,
): Promise<RaceResult> {
  const stock = `${urls[0]}/stock/${sku}`;
  await json(stock, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ units: UNITS }),
    signal,
  });
  await Promise.all(urls.map((url) => json(`${url}/stock/${sku}`, { signal }))); // opens the connections
  const load = { urls, path: `/orders/${sku}${route}`, signal };
  const result = await sendOrders({ ...load, requests: REQUESTS, concurrency: CONCURRENCY });
  const { units } = await json(stock, { signal });
  return summary(result, units);
}

function summary({ confirmed, perSecond, waits }: LoadResult, left: number): RaceResult {
  return {
    sold: confirmed,
    oversold: Math.max(0, confirmed - UNITS),
    left,
    perSecond,
    waitP50: percentile(waits, 50),
    waitP99: percentile(waits, 99),
  };
}

async function json(url: string, init: RequestInit): Promise<{ readonly units: number }> {
  const response = await fetch(url, init);
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`);
  return (await response.json()) as { units: number };
}
