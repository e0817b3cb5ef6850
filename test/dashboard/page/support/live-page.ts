import type { RequestListener } from 'node:http';
import { Redis } from 'ioredis';
import { LockService, RedisLockStore } from 'nest-holdfast/core';
import { lockDashboard } from 'nest-holdfast/dashboard';
import type { LockDashboardHandler, LockDashboardOptions } from 'nest-holdfast/dashboard';
import type { Browser } from 'playwright-core';
import { startChromium } from '../../../support/browser/chromium.js';
import type { RedisServer } from '../../../support/servers/redis-server.js';
import { sharedServer } from '../../../support/servers/shared-server.js';
import { serve } from '../../support/served.js';
import type { Served } from '../../support/served.js';
import { openPage } from './opened-page.js';
import type { OpenedPage } from './opened-page.js';

/** The page of the locks on a Redis, and a browser for it. */
export class LivePage implements AsyncDisposable {
  /** The locks that the page shows as those of its own process. */
  readonly locks: LockService;
  /** As a second process has them. */
  readonly elsewhere: LockService;
  readonly page: LockDashboardHandler;

  private constructor(
    readonly browser: Browser,
    readonly client: Redis,
    options: Omit<LockDashboardOptions, 'locks'>,
  ) {
    this.locks = new LockService(new RedisLockStore(client));
    this.elsewhere = new LockService(new RedisLockStore(client));
    this.page = lockDashboard({ ...options, locks: this.locks });
  }

  #served!: Served;

  get origin(): string {
    return this.#served.origin;
  }

  /** `mount` puts the page into an application that has it at `/locks`. */
  static async start(
    options: Omit<LockDashboardOptions, 'locks'>,
    mount: (page: LockDashboardHandler) => RequestListener,
  ): Promise<LivePage> {
    const { port } = await sharedServer<RedisServer>('redis');
    const live = new LivePage(await startChromium(), new Redis(port), options);
    live.#served = await serve(mount(live.page));
    return live;
  }

  open(path = '/locks'): Promise<OpenedPage> {
    return openPage(this.browser, this.origin + path);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.browser.close();
    this.page.close();
    await this.#served.close();
    await Promise.all([this.locks.close(), this.elsewhere.close()]);
    await this.client.quit();
  }
}
