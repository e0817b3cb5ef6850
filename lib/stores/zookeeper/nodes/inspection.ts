import type { LockInspection } from '../../../core/contract/lock-store.js';
import type { Connection } from '../client/connection.js';
import type { NodeContent } from '../client/node-content.js';
import { nodesOf } from '../names/node-names.js';
import { holdersOf } from '../../kit/place-in-line.js';

/** The holders of a key, from the nodes in its line. `undefined` when there are none. */
export async function inspectLine(
  connection: Connection,
  key: string,
  line: string,
): Promise<LockInspection | undefined> {
  for (;;) {
    const found = await connection.line(line);
    const holders = holdersOf(nodesOf(found?.names ?? []));
    if (!found || holders.length === 0) return undefined;
    const contents = await Promise.all(
      holders.map(({ name }) => connection.read(`${line}/${name}`)),
    );
    const [first, ...others] = contents.filter((content) => content !== undefined);
    if (!first) continue; // all have gone meanwhile
    const { permits } = holders[0]!;
    const holder = holderIn(first);
    if (permits === undefined) {
      const { numberedAt } = found;
      const fencingToken = numberedAt > first.czxid ? numberedAt : first.czxid;
      return { key, holder, fencingToken };
    }
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
