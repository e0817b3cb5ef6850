import { Controller, Get, Inject, Post, Req, Res, UseGuards } from '@nestjs/common';
import type { CanActivate } from '@nestjs/common';
import type { NestDashboard } from './nest-dashboard.js';

/**
 * A class of its own for each module: decorators would change one that is shared. `token` is that of a `NestDashboard`. The only
 * file that loads Nest.
 */
export function dashboardController(
  token: symbol,
  path: string,
  guards: readonly (Function | object)[],
) {
  @Controller(path)
  @UseGuards(...(guards as CanActivate[]))
  class LockDashboardController {
    constructor(@Inject(token) readonly dashboard: NestDashboard) {}

    @Get()
    page(@Req() request: any, @Res() reply: any) {
      return this.dashboard.open('', request, reply);
    }

    @Get('page.js')
    script(@Req() request: any, @Res() reply: any) {
      return this.dashboard.open('page.js', request, reply);
    }

    @Get('page.css')
    style(@Req() request: any, @Res() reply: any) {
      return this.dashboard.open('page.css', request, reply);
    }

    @Get('api/events')
    events(@Req() request: any, @Res() reply: any) {
      return this.dashboard.open('api/events', request, reply);
    }

    @Get('api/snapshot')
    snapshot(@Req() request: any, @Res() reply: any) {
      return this.dashboard.open('api/snapshot', request, reply);
    }

    @Post('api/release')
    release(@Req() request: any, @Res() reply: any) {
      return this.dashboard.open('api/release', request, reply);
    }
  }
  return LockDashboardController;
}
