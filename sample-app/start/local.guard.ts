import { Injectable } from '@nestjs/common';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';

const LOOPBACK = /^(127\.|::1$|::ffff:127\.)/;

/** Lets in what comes from this machine. An application with users checks the user. */
@Injectable()
export class LocalGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { socket } = context.switchToHttp().getRequest<Request>();
    return LOOPBACK.test(socket.remoteAddress ?? '');
  }
}
