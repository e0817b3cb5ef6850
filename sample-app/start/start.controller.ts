import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Controller, Get, Header } from '@nestjs/common';

const CSP =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; " +
  "form-action 'none'; frame-ancestors 'none'";

/** The start page, and its two files. */
@Controller()
export class StartController {
  private readonly html = read('index.html');
  private readonly css = read('start.css');
  private readonly js = read('start.js');

  @Get()
  @Header('content-type', 'text/html; charset=utf-8')
  @Header('content-security-policy', CSP)
  page(): string {
    return this.html;
  }

  @Get('start.css')
  @Header('content-type', 'text/css; charset=utf-8')
  styles(): string {
    return this.css;
  }

  @Get('start.js')
  @Header('content-type', 'text/javascript; charset=utf-8')
  script(): string {
    return this.js;
  }
}

function read(file: string): string {
  return readFileSync(join(__dirname, 'page', file), 'utf8');
}
