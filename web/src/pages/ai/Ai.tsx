export function AiPage() {
  return null;
}
