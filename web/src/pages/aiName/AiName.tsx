export function AiNamePage() {
  return null;
}
