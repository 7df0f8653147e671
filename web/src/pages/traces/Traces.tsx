export function TracesPage() {
  return null;
}
