import { useLayoutEffect, useRef } from 'preact/hooks';
import type { LockRow } from '../../api.js';
import { isFiltered, refilter } from '../live/route.js';
import type { Go, Route } from '../live/route.js';
import { STATE_WORDS } from '../text/words.js';
import { visible } from '../text/visible.js';

interface FiltersProps {
  readonly route: Route;
  readonly go: Go;
  readonly names: readonly string[];
}

/** Search, state and name, kept in the URL. */
export function Filters({ route, go, names }: FiltersProps) {
  const change = (part: Route) => refilter(go, part);
  return (
    <form class="filters" role="search" aria-label="Filter the locks" onSubmit={prevent}>
      <SearchField value={route.search ?? ''} change={(search) => change({ search })} />
      <StateChoice chosen={route.state} choose={(state) => change({ state })} />
      <NameChoice names={names} chosen={route.name} choose={(name) => change({ name })} />
      <button type="button" disabled={!isFiltered(route)} onClick={() => go({}, 'replace')}>
        Clear
      </button>
    </form>
  );
}

interface SearchFieldProps {
  readonly value: string;
  readonly change: (value: string | undefined) => void;
}

/** `/` goes to it from anywhere on the page. */
function SearchField({ value, change }: SearchFieldProps) {
  const field = useRef<HTMLInputElement>(null);
  // Before the field is painted: who sees it may press the key.
  useLayoutEffect(() => {
    const focus = (event: KeyboardEvent) => {
      const isTyping = event.target instanceof Element && event.target.closest('input, dialog');
      if (event.key !== '/' || isTyping) return;
      event.preventDefault();
      field.current?.focus();
    };
    addEventListener('keydown', focus);
    return () => removeEventListener('keydown', focus);
  }, []);
  return (
    <input
      ref={field}
      type="search"
      aria-label="Search keys, names and holders"
      aria-keyshortcuts="/"
      placeholder="Search keys, names, holders   /"
      autocomplete="off"
      spellcheck={false}
      value={value}
      onInput={({ currentTarget }) => change(currentTarget.value || undefined)}
    />
  );
}

type State = LockRow['state'] | undefined;
const STATES: readonly State[] = [undefined, 'jeopardy', 'overdue', 'held'];

interface StateChoiceProps {
  readonly chosen: State;
  readonly choose: (state: State) => void;
}

function StateChoice({ chosen, choose }: StateChoiceProps) {
  return (
    <fieldset class="states">
      <legend class="only-heard">State</legend>
      {STATES.map((state) => (
        <label key={state ?? ''}>
          <input
            type="radio"
            name="state"
            checked={chosen === state}
            onChange={() => choose(state)}
          />
          <span>{state ? STATE_WORDS[state] : 'all'}</span>
        </label>
      ))}
    </fieldset>
  );
}

interface NameChoiceProps {
  readonly names: readonly string[];
  readonly chosen: string | undefined;
  readonly choose: (name: string | undefined) => void;
}

/** The value of an option is its number: a name may be any text. */
function NameChoice({ names, chosen, choose }: NameChoiceProps) {
  const all = chosen === undefined || names.includes(chosen) ? names : [chosen, ...names];
  return (
    <select
      aria-label="Name"
      value={chosen === undefined ? '' : String(all.indexOf(chosen))}
      onChange={({ currentTarget: { value } }) => choose(value ? all[Number(value)] : undefined)}
    >
      <option value="">every name</option>
      {all.map((name, index) => (
        <option key={name} value={String(index)}>
          {visible(name)}
        </option>
      ))}
    </select>
  );
}

function prevent(event: Event): void {
  event.preventDefault();
}
