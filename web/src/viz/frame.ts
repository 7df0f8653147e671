/** Padding around the plot of time charts in pixels, so that charts side by side have equal axes. */
export const FRAME = { left: 56, right: 8, top: 8, bottom: 24 };

/** Length of a tick below the plot in pixels. */
export const TICK = 4;
