/**
 * The part of an `Etcd3` client (package `etcd3`, 1.1) that the store uses: only its calls, not the classes that it builds on
 * them.
 */
export interface EtcdClient {
  readonly kv: {
    txn(request: TxnRequest, options?: CallOptions): Promise<TxnResponse>;
  };
  readonly leaseClient: {
    leaseGrant(request: { TTL: number }, options?: CallOptions): Promise<LeaseGranted>;
    leaseRevoke(request: { ID: string }, options?: CallOptions): Promise<unknown>;
    leaseKeepAlive(): Promise<EtcdStream<{ ID: string }, LeaseKept>>;
  };
  readonly watchClient: { watch(): Promise<EtcdStream<WatchRequest, WatchResponse>> };
  close(): void;
}

/** gRPC gives a deadline as a time of day. */
export interface CallOptions {
  readonly deadline: Date;
}

/** A gRPC stream in both directions. */
export interface EtcdStream<Sent, Received> extends EtcdFlow {
  write(message: Sent): unknown;
  on(event: 'data', listener: (message: Received) => void): unknown;
  on(event: 'error' | 'end', listener: () => void): unknown;
}

/** A stream, whatever flows in it. */
export interface EtcdFlow {
  on(event: 'error' | 'end', listener: () => void): unknown;
  cancel(): void;
}

/** 64-bit numbers arrive as decimal strings. */
export interface LeaseGranted {
  readonly ID: string;
  /** Seconds. The server may give more than was asked for. */
  readonly TTL: string;
}

/** A `TTL` of 0: there is no such lease any more. */
export type LeaseKept = LeaseGranted;

export interface Compare {
  readonly target: 'Create' | 'Mod' | 'Version' | 'Lease';
  readonly result: 'Equal' | 'Less';
  readonly key: Buffer;
  readonly range_end?: Buffer;
  readonly create_revision?: string;
  readonly mod_revision?: string;
  readonly version?: string;
  readonly lease?: string;
}

export interface RangeRequest {
  readonly key: Buffer;
  readonly range_end?: Buffer;
  readonly limit?: number;
  readonly sort_order?: 'Ascend' | 'Descend';
  readonly sort_target?: 'Create';
  readonly min_create_revision?: string;
  readonly max_create_revision?: string;
  /** As the keys were then. Missing: now. */
  readonly revision?: string;
}

export interface RequestOp {
  readonly request_range?: RangeRequest;
  readonly request_put?: { readonly key: Buffer; readonly value: Buffer; readonly lease: string };
  readonly request_delete_range?: { readonly key: Buffer };
  readonly request_txn?: TxnRequest;
}

export interface TxnRequest {
  readonly compare: readonly Compare[];
  readonly success: readonly RequestOp[];
  readonly failure: readonly RequestOp[];
}

export interface KeyValue {
  readonly key: Buffer;
  readonly value: Buffer;
  readonly create_revision: string;
  readonly version: string;
  readonly lease: string;
}

export interface TxnResponse {
  readonly header: { readonly revision: string };
  readonly succeeded: boolean;
  readonly responses: readonly {
    readonly response_range?: { readonly kvs: readonly KeyValue[] } | null;
    readonly response_txn?: TxnResponse | null;
  }[];
}

export interface WatchRequest {
  readonly create_request?: {
    readonly watch_id: string;
    readonly key: Buffer;
    readonly range_end?: Buffer;
    readonly start_revision: string;
    readonly filters: readonly 'Noput'[];
  };
  readonly cancel_request?: { readonly watch_id: string };
}

export interface WatchResponse {
  /** The revision of the server's last change. */
  readonly header: { readonly revision: string };
  readonly watch_id: string;
  readonly created: boolean;
  readonly canceled: boolean;
  readonly cancel_reason: string;
  /** Not `0`: the watch asked for revisions that have been compacted away. */
  readonly compact_revision: string;
  readonly events: readonly { readonly type: 'Put' | 'Delete' }[];
}
