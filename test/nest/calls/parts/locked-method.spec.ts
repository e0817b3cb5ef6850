import { ResolveField } from '@nestjs/graphql';
import { DistributedLock } from 'nest-holdfast';
import { LockControl, useLocks } from 'nest-holdfast/testing';
import { rejectionOf } from '../../../core/support/outcome';

/** A locked method, and what a subclass makes of it: a field of GraphQL, or nothing. */
function classes() {
  class Prices {
    @DistributedLock('price:<id>', { waitTimeout: 0 })
    async price(id: string): Promise<string> {
      return id;
    }
  }
  class Resolver extends Prices {
    @ResolveField(() => String)
    override price(id: string): Promise<string> {
      return super.price(id);
    }
  }
  class Job extends Prices {}
  return [Resolver, Job] as const;
}

it.each(['the field', 'the other'])(
  'A method that a field shares with others fails as its caller expects, %s first',
  async (first) => {
    const control = new LockControl();
    const [Resolver, Job] = classes();
    const field = useLocks(new Resolver(), control);
    const other = useLocks(new Job(), control);
    control.busy('price:42');
    const order = first === 'the field' ? [field, other] : [other, field];
    const errors = new Map<object, Error>();
    for (const each of [...order, ...order]) errors.set(each, await rejectionOf(each.price('42')));
    expect(errors.get(field)).toMatchObject({ message: 'The lock is held', extensions: { code: 'LOCK_TIMEOUT' } }); // prettier-ignore
    expect(errors.get(other)).toMatchObject({ name: 'LockTimeoutError', key: 'price:42' });
  },
);
