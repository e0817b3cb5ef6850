/** Milliseconds between two looks at a race that is under way. */
const EVERY = 200;
const trouble = document.getElementById('trouble');

for (const way of ['locked', 'unlocked']) {
  const button = buttonOf(way);
  button.disabled = false;
  button.addEventListener('click', () => void follow(way, 'POST'));
}
void showLast();

/** What was raced before the page was opened. Never rejects. */
async function showLast() {
  try {
    const races = await ask('GET', 'races');
    for (const [way, race] of Object.entries(races)) {
      if (race.isRunning) void follow(way, 'GET');
      else show(way, race);
    }
  } catch (error) {
    tell(error);
  }
}

/** Shows a race until it has ended. `POST` begins one. Never rejects. */
async function follow(way, method) {
  const button = buttonOf(way);
  button.disabled = true;
  trouble.textContent = '';
  try {
    let race =
      method === 'POST' ? await ask('POST', `races/${way}`) : (await ask('GET', 'races'))[way];
    while (race.isRunning) {
      show(way, race);
      await new Promise((resolve) => setTimeout(resolve, EVERY));
      race = (await ask('GET', 'races'))[way];
    }
    show(way, race);
  } catch (error) {
    tell(error);
  } finally {
    button.disabled = false;
  }
}

async function ask(method, path) {
  const response = await fetch(path, { method });
  if (!response.ok) throw new Error(`The app answered ${response.status}`);
  return response.json();
}

function show(way, race) {
  const section = document.getElementById(way);
  for (const cell of section.querySelectorAll('dd')) {
    cell.textContent = race[cell.dataset.of] ?? '–';
  }
  const verdict = section.querySelector('.verdict');
  const isBad = race.sold > race.units;
  verdict.className = race.isRunning ? 'verdict' : `verdict ${isBad ? 'bad' : 'good'}`;
  verdict.textContent = race.isRunning ? 'Orders are under way.' : verdictOf(race);
}

function verdictOf({ sold, units, left }) {
  if (sold > units)
    return `Sold ${sold} lamps of ${units}: ${sold - units} customers wait for a lamp that does not exist.`;
  if (sold + left === units) return `Sold ${sold} lamps of ${units}, and none twice.`;
  return `Sold ${sold} lamps of ${units}; the stock says that ${left} are left.`;
}

function tell(error) {
  trouble.textContent = `The numbers could not be read: ${error.message}. Does the app still run?`;
}

function buttonOf(way) {
  return document.querySelector(`#${way} button`);
}
