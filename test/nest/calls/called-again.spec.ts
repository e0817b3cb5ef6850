import { Controller, Get, Param, Res } from '@nestjs/common';
import { DistributedLock } from 'nest-holdfast';
import { type Observable, lastValueFrom, of } from 'rxjs';
import { Deferred } from '../support/deferred.js';
import { ADAPTERS, startApp } from '../support/test-app.js';

interface AnyResponse {
  readonly raw?: NodeJS.EventEmitter;
}

/** Runs once, after the answer, what the handler has started. */
let startedByHandler: ((work: () => Promise<string>) => void) | undefined;

function start(work: () => Promise<string>, response: unknown): void {
  const wait = startedByHandler;
  if (!wait) return;
  startedByHandler = undefined;
  const node = ((response as AnyResponse).raw ?? response) as NodeJS.EventEmitter;
  const closed = new Promise((resolve) => node.once('close', resolve));
  wait(() => closed.then(work));
}

@Controller()
class Jobs {
  @Get('promise/:id')
  @DistributedLock('job:<id>')
  async promise(@Param('id') id: string, @Res({ passthrough: true }) response: unknown) {
    start(() => this.promise(id, response), response);
    return `ran ${id}`;
  }

  @Get('observable/:id')
  @DistributedLock('job:<id>', { returns: 'observable' })
  observable(
    @Param('id') id: string,
    @Res({ passthrough: true }) response: unknown,
  ): Observable<string> {
    start(() => lastValueFrom(this.observable(id, response)), response);
    return of(`ran ${id}`);
  }
}

describe.each(ADAPTERS)('a handler that calls itself once it is answered, with %s', (adapter) => {
  it.each(['promise', 'observable'])('is no part of the request then: %s', async (path) => {
    const again = new Deferred<string>();
    startedByHandler = (work) => void work().then(again.resolve, again.reject);
    await using app = await startApp({ adapter, controllers: [Jobs] });
    await app.http.get(`/${path}/7`).expect(200, 'ran 7');
    expect(await again.promise).toBe('ran 7');
    expect(app.log).toEqual(['+job:7', '-job:7', '+job:7', '-job:7']);
  });
});
