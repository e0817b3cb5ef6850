import { Injectable } from '@nestjs/common';
import type { PipeTransform } from '@nestjs/common';
import { checkedSku } from './sku.js';

/** Pipes run before the lock is taken, so a request for what is no article never waits for one. */
@Injectable()
export class SkuPipe implements PipeTransform<string, string> {
  transform(value: string): string {
    return checkedSku(value);
  }
}
