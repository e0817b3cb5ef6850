import { Controller, Get, Inject, Post, Req, Res, UseGuards } from '@nestjs/common';
import type { CanActivate } from '@nestjs/common';
import type { DashboardDoor } from './dashboard-door.js';

/**
 * A class of its own for each module: decorators would change one that is shared. `token` is that of a `DashboardDoor`. The only
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
    constructor(@Inject(token) readonly door: DashboardDoor) {}

    @Get()
    page(@Req() request: any, @Res() reply: any) {
      return this.door.open('', request, reply);
    }

    @Get('page.js')
    script(@Req() request: any, @Res() reply: any) {
      return this.door.open('page.js', request, reply);
    }

    @Get('page.css')
    style(@Req() request: any, @Res() reply: any) {
      return this.door.open('page.css', request, reply);
    }

    @Get('api/events')
    events(@Req() request: any, @Res() reply: any) {
      return this.door.open('api/events', request, reply);
    }

    @Get('api/snapshot')
    snapshot(@Req() request: any, @Res() reply: any) {
      return this.door.open('api/snapshot', request, reply);
    }

    @Post('api/release')
    release(@Req() request: any, @Res() reply: any) {
      return this.door.open('api/release', request, reply);
    }
  }
  return LockDashboardController;
}
