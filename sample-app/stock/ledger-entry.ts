/** A line of a ledger. */
export interface LedgerEntry {
  readonly id: string;
  /** Units in stock from here on. Missing where a holder of the lock only announces itself before it reads. */
  readonly units?: number;
  /** The fencing token of the writer's lock. Missing where it has none: such an entry always counts. */
  readonly fence?: string;
}

/**
 * The entries that count. One whose fencing token is smaller than that of an entry before it was written by a holder that
 * had lost its lock, and is void. The order of the file decides, so nothing can come between this check and the write.
 */
export function validEntries(entries: readonly LedgerEntry[]): LedgerEntry[] {
  let newest = 0n;
  return entries.filter(({ fence }) => {
    if (fence === undefined) return true;
    const token = BigInt(fence);
    if (token < newest) return false;
    newest = token;
    return true;
  });
}

export function unitsAfter(entries: readonly LedgerEntry[]): number {
  return validEntries(entries).findLast(({ units }) => units !== undefined)?.units ?? 0;
}
