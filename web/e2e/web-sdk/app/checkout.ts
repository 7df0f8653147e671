import { totalOf } from "./cart";

export interface Cart {
  items: { name: string; cents: number }[];
  currency: string;
}

/** Action of the button. */
export function pay(cart: Cart): void {
  const total = totalOf(cart);
  document.title = `${total} ${cart.currency}`;
}
