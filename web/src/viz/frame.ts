/** Pixels around the plot of every chart over time, so that charts side by side have the same axes. */
export const FRAME = { left: 56, right: 8, top: 8, bottom: 24 };

/** Length of a tick below the plot. */
export const TICK = 4;
