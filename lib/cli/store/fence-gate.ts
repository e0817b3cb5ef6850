import { RedisFencingGate } from '../../fencing/index.js';
import { connect } from './redis-stores.js';

/** The gate of a Redis. Throws `CommandError` for a URL that cannot be read. */
export function fenceGateOf(url: string): RedisFencingGate {
  return new RedisFencingGate(connect(url));
}
