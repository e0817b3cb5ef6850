import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { appendFile, readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { unitsAfter, validEntries } from './ledger-entry.js';
import type { LedgerEntry } from './ledger-entry.js';
import { checkedSku } from './sku.js';
import { StaleWriteError } from './stock-errors.js';

/** Milliseconds to a database and back. */
const ROUND_TRIP = 4;
const EXTENSION = '.jsonl';

/**
 * Units per article, in files that only grow: a small stand-in for a table of a database. Processes that are given the same
 * directory share the stock.
 */
export class StockLedger {
  constructor(private readonly directory: string) {
    mkdirSync(directory, { recursive: true });
  }

  /**
   * Units in stock. With a fencing token, writes with smaller ones are refused from now on: otherwise a stale holder could
   * still write between this reading and the write that follows from it.
   */
  async read(sku: string, fence?: bigint): Promise<number> {
    await sleep(ROUND_TRIP);
    const entries =
      fence === undefined ? await this.#entries(sku) : await this.#append(sku, { fence });
    return unitsAfter(entries);
  }

  /** Rejects with `StaleWriteError` when the ledger has seen a larger fencing token. */
  async write(sku: string, units: number, fence?: bigint): Promise<void> {
    await sleep(ROUND_TRIP);
    await this.#append(sku, { units, fence });
  }

  async skus(): Promise<string[]> {
    const files = await readdir(this.directory);
    return files
      .filter((file) => file.endsWith(EXTENSION))
      .map((file) => basename(file, EXTENSION));
  }

  /** Small appends of several processes do not mix. Whether this one counts is known by reading it back. */
  async #append(
    sku: string,
    { units, fence }: { units?: number; fence?: bigint | undefined },
  ): Promise<LedgerEntry[]> {
    const entry: LedgerEntry = { id: randomUUID(), units, fence: fence?.toString() };
    await appendFile(this.#file(sku), `${JSON.stringify(entry)}\n`);
    const entries = await this.#entries(sku);
    const counts = validEntries(entries).some(({ id }) => id === entry.id);
    if (fence !== undefined && !counts) throw new StaleWriteError(sku, fence);
    return entries;
  }

  async #entries(sku: string): Promise<LedgerEntry[]> {
    const text = await readFile(this.#file(sku), 'utf8').catch(emptyIfMissing);
    const lines = text.split('\n').slice(0, -1); // what follows the last line break is still being written
    return lines.map((line) => JSON.parse(line) as LedgerEntry);
  }

  #file(sku: string): string {
    return join(this.directory, checkedSku(sku) + EXTENSION);
  }
}

function emptyIfMissing(error: NodeJS.ErrnoException): string {
  if (error.code === 'ENOENT') return '';
  throw error;
}
