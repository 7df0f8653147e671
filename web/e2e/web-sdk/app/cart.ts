import type { Cart } from "./checkout";

export class EmptyCartError extends Error {
  override name = "EmptyCartError";
}

/** In the currency's own unit. Nobody pays for nothing. */
export function totalOf(cart: Cart): number {
  if (cart.items.length === 0) {
    throw new EmptyCartError(`the cart is empty, in ${cart.currency}`);
  }
  return cart.items.reduce((sum, item) => sum + item.cents, 0) / 100;
}
