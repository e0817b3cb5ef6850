import { HttpException } from '@nestjs/common';
import { ApplicationConfig } from '@nestjs/core';
import { RpcException } from '@nestjs/microservices';
import { Catch } from '@nestjs/common';
import { LockTimeoutError } from 'nest-holdfast';
import { lastValueFrom, throwError } from 'rxjs';
import { ErrorMapping } from '../../../lib/nest/errors/error-mapping';
import { ofLocks } from '../../../lib/nest/errors/lock-origin';
import { getLockErrorsToken } from '../../../lib/nest/plan/lock-tokens';
import { ClientGoneException } from '../../../lib/nest/transports/client-gone';
import { rejectionOf } from '../../core/support/outcome';
import { contextOf } from '../support/fake-context';

@Catch(LockTimeoutError)
class OfTimeouts {
  catch() {}
}

/** The mapping of an application with these options of instances, and global filters. */
function mappingOf(options: Readonly<Record<string, unknown>>, filters: readonly object[] = []) {
  const values = new Map(Object.entries(options).map(([name, value]) => [getLockErrorsToken(name), value])); // prettier-ignore
  const modules = {
    get: jest.fn((token: string) => {
      if (!values.has(token)) throw new Error('no such provider');
      return values.get(token);
    }),
  };
  const config = new ApplicationConfig();
  for (const filter of filters) config.addGlobalFilter(filter as never);
  const mapping = new ErrorMapping(modules as never, config);
  const mapped = (error: unknown, context = anHttpContext(), locks?: string) =>
    rejectionOf<HttpException>(
      lastValueFrom(throwError(() => error).pipe(mapping.mapped(context, locks))),
    );
  return { mapping, modules, mapped };
}

const anHttpContext = () => contextOf({ args: [{}, { header: jest.fn() }] });
const held = () => new LockTimeoutError('order:1', 0);

describe('The error of a call that is locked', () => {
  it('has the options of the instance that has thrown it', async () => {
    const { mapped, modules } = mappingOf({ default: { busyStatus: 423 }, reports: { busyStatus: 503 } }); // prettier-ignore
    expect((await mapped(held())).getStatus()).toBe(423);
    expect((await mapped(held(), anHttpContext(), 'reports')).getStatus()).toBe(423);
    expect((await mapped(ofLocks('reports', held()))).getStatus()).toBe(503);
    expect(modules.get.mock.calls[0]).toEqual([getLockErrorsToken(), { strict: false }]);
  });

  it('has those of the only instance, where that has a name', async () => {
    const { mapped } = mappingOf({ reports: { busyStatus: 503 } });
    expect((await mapped(held(), anHttpContext(), 'reports')).getStatus()).toBe(503);
  });

  it('has the defaults where the application has no such instance', async () => {
    const { mapped, mapping } = mappingOf({});
    expect((await mapped(held())).getStatus()).toBe(409);
    expect(mapping.get('anything')).toBeUndefined();
  });

  it('stays as it is where the options say so', async () => {
    const error = held();
    expect(await mappingOf({ default: false }).mapped(error)).toBe(error);
  });

  it('stays as it is for a filter of the application, where its global filters are asked', async () => {
    const { mapped } = mappingOf({ default: {} }, [new OfTimeouts()]);
    expect(await mapped(held())).toBeInstanceOf(HttpException); // of a microservice without them
    const context = anHttpContext();
    ErrorMapping.surround(context);
    const error = held();
    expect(await mapped(error, context)).toBe(error);
  });

  it('is mapped for a client that has gone, whatever the options say', async () => {
    const { mapped } = mappingOf({ default: false });
    const error = await mapped(new ClientGoneException(), contextOf({ type: 'rpc' }));
    expect(error).toBeInstanceOf(RpcException);
  });

  it('stays as it is where it is none of ours', async () => {
    const { mapped, modules } = mappingOf({ default: {} });
    const error = new Error('of the work');
    expect(await mapped(error)).toBe(error);
    expect(modules.get).not.toHaveBeenCalled();
  });
});
