import type { StoreNode } from '../../api.js';
import { Foreign } from '../text/words.js';

/** The nodes of a Redlock, each with its state. */
export function Nodes({ nodes }: { readonly nodes: readonly StoreNode[] }) {
  if (nodes.length === 0) return null;
  const up = nodes.filter(({ state }) => state === 'up').length;
  return (
    <section class="nodes" aria-label="Nodes">
      <h2>{`Nodes: ${up} of ${nodes.length} up`}</h2>
      <ul>
        {nodes.map(({ name, state }) => (
          <li key={name} class={state === 'up' ? 'up' : 'down'}>
            <Foreign text={name} /> <span class="node-state">{state}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
