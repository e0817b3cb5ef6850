import type { ClusterNodeClient } from '../../../cluster-client.js';
import { NodeRedisPort } from '../port.js';
import type { NodeRedisSource } from '../source.js';

/** A connection of ours to one node of a Cluster. Its calls fail when it is lost: the Cluster knows where they go next. */
export class NodePort extends NodeRedisPort implements ClusterNodeClient {
  constructor(source: NodeRedisSource) {
    super(source, true);
  }

  asking(): Promise<unknown> {
    return this.send('ASKING');
  }

  cluster(subcommand: string): Promise<unknown> {
    return this.send('CLUSTER', subcommand);
  }
}
