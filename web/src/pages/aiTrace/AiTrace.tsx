export function AiTracePage() {
  return null;
}
