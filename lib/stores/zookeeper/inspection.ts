import type { LockInspection } from '../../core/lock-store.js';
import type { Connection } from './connection.js';
import type { NodeContent } from './node-content.js';
import { nodesOf } from './node-names.js';
import { holdersOf } from '../../core/place-in-line.js';

/** Those who hold a key, by the nodes in its line. `undefined` when there are none. */
export async function inspectLine(
  connection: Connection,
  key: string,
  line: string,
): Promise<LockInspection | undefined> {
  for (;;) {
    const holders = holdersOf(nodesOf((await connection.children(line)) ?? []));
    if (holders.length === 0) return undefined;
    const contents = await Promise.all(
      holders.map(({ name }) => connection.read(`${line}/${name}`)),
    );
    const [first, ...others] = contents.filter((content) => content !== undefined);
    if (!first) continue; // all have gone meanwhile
    const { permits } = holders[0]!;
    const holder = holderIn(first);
    if (permits === undefined) return { key, holder, fencingToken: first.czxid };
    return {
      key,
      holder,
      permits,
      holders: [first, ...others].map((each) => holderIn(each) ?? ''),
    };
  }
}

function holderIn({ data }: NodeContent): string | undefined {
  return data.toString() || undefined;
}
