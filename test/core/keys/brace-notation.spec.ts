import { refuseBraces } from '../../../lib/core/keys/brace-notation.js';

const refuse = (source: string) => () => refuseBraces('lockRequest', source, /^params\./);

describe('refuseBraces', () => {
  it.each([
    ['order:{params.id}', '{params.id}'],
    ['order:#params.id', '#params.id'],
    ['order:$params.id', '$params.id'],
    ['order:params.id', 'params.id'],
    ['/::params.id', 'params.id'],
    ['params.id', 'params.id'],
    ['order:<params.from>:{params.id}', '{params.id}'],
  ])('refuses %p', (source, notation) => {
    const message = `lockRequest: ${notation} in "${source}" is no placeholder. Write <params.id>`;
    expect(refuse(source)).toThrow(message);
  });

  it.each(['order:<params.id>', 'order:{file.name}', 'order:a.params.id', 'order:{params}'])(
    'takes %p',
    (source) => {
      expect(refuse(source)).not.toThrow();
    },
  );
});
