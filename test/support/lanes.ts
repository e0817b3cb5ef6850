/**
 * Runs `run` for each item, at most `lanes` at once: an item comes after the one `lanes` before it. Returns the promises,
 * none of which counts as unhandled: the caller waits for them later.
 */
export function inLanes<Item, Result>(
  items: readonly Item[],
  lanes: number,
  run: (item: Item) => Promise<Result>,
): Map<Item, Promise<Result>> {
  const results = new Map<Item, Promise<Result>>();
  for (const [index, item] of items.entries()) {
    const before = index < lanes ? undefined : results.get(items[index - lanes]!);
    const result = Promise.allSettled([before]).then(() => run(item));
    result.catch(() => {});
    results.set(item, result);
  }
  return results;
}
