import { formatTime } from '../text/format.js';
import type { Live } from '../live/use-live.js';

/** Whether what is shown is live. Read aloud when the connection goes and comes back, not with every snapshot. */
export function Status({ live }: { readonly live: Live }) {
  const { receivedOn, lost, snapshot } = live;
  const isLive = lost === undefined && snapshot !== undefined;
  return (
    <p class={`status ${lost ? 'lost' : isLive ? 'live' : 'connecting'}`}>
      <span class="lamp" aria-hidden="true" />
      <span role="status">{lost ? wordsOf(live) : isLive ? 'Live' : 'Connecting…'}</span>
      {isLive && <time>{formatTime(receivedOn!)}</time>}
    </p>
  );
}

function wordsOf({ receivedOn, lost }: Live): string {
  const since = receivedOn === undefined ? 'yet' : `since ${formatTime(receivedOn)}`;
  const words = `No connection ${since}, trying again`;
  return lost?.why === undefined ? words : `${words}. ${lost.why}`;
}
