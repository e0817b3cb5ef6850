import { LockService } from 'nest-holdfast/core';
import { lockRequest } from 'nest-holdfast/express';
import { LockControl } from 'nest-holdfast/testing';
import supertest from 'supertest';
import { VERSIONS } from '../express/support/express-app';

describe.each(VERSIONS)('LockControl in $version', ({ express }) => {
  const control = new LockControl();
  const locks = new LockService(control.store());
  const app = express();
  app.post('/orders/:id/pay', lockRequest('order:<params.id>', { locks }), (request, response) => {
    response.json({ paid: request.params['id'] });
  });
  const pay = (id: string) => supertest(app).post(`/orders/${id}/pay`);

  afterEach(() => control.reset());
  afterAll(() => locks.close());

  it('lets a free request through', async () => {
    await pay('42').expect(200, { paid: '42' });
    expect(control.held()).toEqual([]);
  });

  it('refuses a busy one at once', async () => {
    control.busy('order:42');
    await pay('42').expect(409);
    await pay('43').expect(200);
  });

  it('lets one wait for a key that is held elsewhere', async () => {
    const elsewhere = control.hold('order:42');
    const status = pay('42').then((response) => response.status);
    await control.untilWaiting('order:42');
    elsewhere.release();
    expect(await status).toBe(200);
  });

  it('fails with the store', async () => {
    control.failing('order:42');
    await pay('42').expect(503);
  });
});
