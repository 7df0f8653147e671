/** The clip of an exception begins so long before it. */
export const BEFORE_MS = 15_000;
/** What the user did next is shown too, if it was recorded. */
export const AFTER_MS = 5000;
