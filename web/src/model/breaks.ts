/** Splits a name where a line may break: after dots, underscores, slashes, colons and dashes. */
export function pieces(name: string): string[] {
  return name.match(/[^._/:-]+[._/:-]*|[._/:-]+/g) ?? [];
}
