import { Logger } from '@nestjs/common';
import type { OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import type { DiscoveryService } from '@nestjs/core';
import { LeaderElection } from '../../leader/leader-election.js';
import type { LeaderTerm } from '../../leader/leader-term.js';
import type { LockService } from '../../core/lock.service.js';
import { findCandidates } from './leader-explorer.js';
import type { FoundCandidate } from './leader-explorer.js';
import { DEFAULT_LOCKS } from '../plan/lock-tokens.js';

/** Injection token of a `LeaderService`: the class itself, or that of the instance of locks called `name`. */
export function getLeadersToken(name: string = DEFAULT_LOCKS): typeof LeaderService | string {
  return name === DEFAULT_LOCKS ? LeaderService : `LeaderService:${name}`;
}

/** The elections of an application: one for each method with `@OnElected`. */
export class LeaderService implements OnApplicationBootstrap, OnModuleDestroy {
  readonly #logger = new Logger('LeaderElection');
  readonly #locks: LockService;
  readonly #discovery: DiscoveryService;
  readonly #name: string | undefined;
  #elections: ReadonlyMap<string, LeaderElection> | undefined;

  constructor(locks: LockService, discovery: DiscoveryService, name: string | undefined) {
    this.#locks = locks;
    this.#discovery = discovery;
    this.#name = name;
  }

  /** The election of `@OnElected(name)`, from `onModuleInit` on. Throws `Error` when there is none. */
  of(name: string): LeaderElection {
    const election = this.#all.get(name);
    if (election) return election;
    const known = [...this.#all.keys()].join(', ') || 'none';
    throw new Error(`No method has @OnElected('${name}'); known elections: ${known}`);
  }

  /** Stands in every election. */
  onApplicationBootstrap(): void {
    for (const election of this.#all.values()) election.start();
  }

  /** Resigns everywhere, while everything that the methods use is still open. */
  async onModuleDestroy(): Promise<void> {
    const elections = [...(this.#elections?.values() ?? [])];
    await Promise.all(elections.map((election) => election.stop()));
  }

  /** Made when first asked for: by then, Nest has made all instances. */
  get #all(): ReadonlyMap<string, LeaderElection> {
    this.#elections ??= this.#discover();
    return this.#elections;
  }

  #discover(): ReadonlyMap<string, LeaderElection> {
    const found = new Map<string, FoundCandidate>();
    for (const candidate of findCandidates(this.#discovery, this.#name)) {
      const { name, label } = candidate;
      const other = found.get(name);
      if (other) {
        throw new Error(
          `${label}: "${name}" is that of ${other.label}; one method is elected, let it call others`,
        );
      }
      found.set(name, candidate);
    }
    return new Map([...found].map(([name, candidate]) => [name, this.#election(candidate)]));
  }

  #election({ name, options, instance, property }: FoundCandidate): LeaderElection {
    const onElected = (term: LeaderTerm) =>
      (instance as Record<string | symbol, (term: LeaderTerm) => unknown>)[property]!(term);
    const election = new LeaderElection(this.#locks, name, { ...options, onElected });
    election.events.on('failed', (error) => this.#logger.error(error));
    election.events.on('lost', (_term, error) => this.#logger.warn(error.message));
    return election;
  }
}
