/** CSS colour of a categorical slot, 0 to 7; others are the grey of "Other". */
export function slotColour(slot: number): string {
  return slot >= 0 && slot < 8 ? `var(--c${slot + 1})` : "var(--c-other)";
}
export function slotVariable(slot: number): string {
  return slot >= 0 && slot < 8 ? `--c${slot + 1}` : "--c-other";
}
