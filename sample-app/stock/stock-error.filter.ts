import { Catch } from '@nestjs/common';
import type { ArgumentsHost, ExceptionFilter } from '@nestjs/common';
import type { Response } from 'express';
import { StockError } from './stock-errors.js';

@Catch(StockError)
export class StockErrorFilter implements ExceptionFilter<StockError> {
  catch({ statusCode, message }: StockError, host: ArgumentsHost): void {
    const response = host.switchToHttp().getResponse<Response>();
    response.status(statusCode).json({ statusCode, message });
  }
}
