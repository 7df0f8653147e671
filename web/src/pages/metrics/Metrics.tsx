export function MetricsPage() {
  return null;
}
