/** CSS colour of a categorical slot: 0..7, anything else is the grey of "Other". */
export function slotColour(slot: number): string {
  return slot >= 0 && slot < 8 ? `var(--c${slot + 1})` : "var(--c-other)";
}
export function slotVariable(slot: number): string {
  return slot >= 0 && slot < 8 ? `--c${slot + 1}` : "--c-other";
}
