import type { Response } from 'express';
import { lockRequest } from 'nest-holdfast/express';
import { until } from '../../support/until.js';
import { controlledApp } from '../support/controlled-app.js';
import { VERSIONS } from '../support/express-app.js';
import { Served } from '../support/served.js';

const MISSING = '/nowhere/missing.txt';

describe.each(VERSIONS)('a file that $version sends after the client has left', ({ express }) => {
  it.each([
    ['that is missing', (response: Response) => response.sendFile(MISSING)],
    ['that is missing, as a download', (response: Response) => response.download(MISSING)],
    ['that is there', (response: Response) => response.sendFile(__filename)],
    ['with a callback', (response: Response) => response.sendFile(MISSING, () => {})],
  ])('and %s frees the lock', async (_, send) => {
    const { app, control, locks } = controlledApp(express);
    let sent: Response | undefined;
    app.get('/', lockRequest('a', { locks }), (_request, response) => {
      sent = response;
    });
    await using served = await Served.start(app);
    const wire = await served.connect();
    wire.send('/');
    await control.untilHeld('a');
    wire.destroy();
    await until(() => sent?.destroyed);
    expect(control.held()).toEqual(['a']);
    send(sent!);
    await until(() => control.held().length === 0);
  });
});
