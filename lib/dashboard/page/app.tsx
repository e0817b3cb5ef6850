export function App() {
  return <p>Locks</p>;
}
