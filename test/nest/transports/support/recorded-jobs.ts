import { OnWorkerEvent, WorkerHost } from '@nestjs/bullmq';
import { Inject } from '@nestjs/common';
import type { Job } from 'bullmq';
import { LockService } from 'nest-holdfast';

export interface Order {
  readonly id: string;
}

/** Keeps what happened to its jobs. */
export abstract class Recorded extends WorkerHost {
  readonly ran: string[] = [];
  readonly failures: Error[] = [];

  @Inject(LockService) readonly locks!: LockService;

  record(job: Job<Order>): string {
    this.ran.push(job.data.id);
    return `under ${this.locks.current()?.key}`;
  }

  @OnWorkerEvent('failed')
  failed(_job: Job<Order>, error: Error) {
    this.failures.push(error);
  }
}
