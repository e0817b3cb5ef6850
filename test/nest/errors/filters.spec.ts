import { Catch, UseFilters } from '@nestjs/common';
import { ApplicationConfig } from '@nestjs/core';
import { LockError, LockKeyError, LockTimeoutError } from 'nest-holdfast';
import { hasOwnFilter } from '../../../lib/nest/errors/own-filters';
import { contextOf } from '../support/fake-context';

const held = new LockTimeoutError('order:1', 0);

class Filter {
  catch() {}
}

@Catch(LockTimeoutError)
class OfTimeouts extends Filter {}
@Catch(LockError)
class OfLocks extends Filter {}
@Catch(LockKeyError)
class OfKeys extends Filter {}
@Catch(Error)
class OfErrors extends Filter {}
@Catch()
class OfEverything extends Filter {}
/** Has no decorator at all: Nest asks it for everything. */
class Undecorated extends Filter {}

/** A handler with these filters, in a class with others. */
function handlerWith(ofHandler: readonly object[], ofClass: readonly object[] = []) {
  @UseFilters(...(ofClass as [Filter]))
  class Handlers {
    @UseFilters(...(ofHandler as [Filter]))
    run() {}
  }
  return contextOf({ of: Handlers, handler: Reflect.get(Handlers.prototype, 'run') as Function });
}

const handler = handlerWith([]);

describe('An application has a filter of its own for a lock error', () => {
  it.each<[string, boolean, readonly object[], readonly object[]]>([
    ['of its kind', true, [OfTimeouts], []],
    ['that is an instance', true, [new OfTimeouts()], []],
    ['of all lock errors', true, [OfLocks], []],
    ['of the class', true, [], [OfTimeouts]],
    ['not of another kind', false, [OfKeys], []],
    ['not of all errors', false, [OfErrors], []],
    ['not of everything', false, [OfEverything], []],
    ['not without a kind', false, [Undecorated], []],
    ['not without any', false, [], []],
    ['behind one that does not catch it', true, [OfLocks, OfKeys], []],
    ['not behind one for everything', false, [OfLocks, OfEverything], []],
    ['before one for everything', true, [OfEverything, OfLocks], []],
    ['of the handler before that of the class', true, [OfLocks], [OfEverything]],
    ['of the class behind that of the handler', false, [OfEverything], [OfLocks]],
  ])('%s: %s', (_, expected, ofHandler, ofClass) => {
    expect(hasOwnFilter(held, handlerWith(ofHandler, ofClass), undefined)).toBe(expected);
  });

  it('among those of the whole application', () => {
    const config = new ApplicationConfig();
    expect(hasOwnFilter(held, handler, config)).toBe(false);
    config.addGlobalFilter(new OfTimeouts());
    expect(hasOwnFilter(held, handler, config)).toBe(true);
    expect(hasOwnFilter(held, handlerWith([OfEverything]), config)).toBe(false);
    expect(hasOwnFilter(held, handler, undefined)).toBe(false);
  });

  it('among those that each request has of its own', () => {
    const config = new ApplicationConfig();
    config.addGlobalRequestFilter({ metatype: null } as never);
    expect(hasOwnFilter(held, handler, config)).toBe(false);
    config.addGlobalRequestFilter({ metatype: OfTimeouts } as never);
    expect(hasOwnFilter(held, handler, config)).toBe(true);
  });

  it('not where no class is known', () => {
    const unknown = { getClass: () => undefined, getHandler: () => undefined };
    const context = Object.assign(contextOf({}), unknown) as never;
    expect(hasOwnFilter(held, context, undefined)).toBe(false);
  });
});
