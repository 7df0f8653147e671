import { totalOf } from "./cart";

export interface Cart {
  items: { name: string; cents: number }[];
  currency: string;
}

/** What the button does. */
export function pay(cart: Cart): void {
  const total = totalOf(cart);
  document.title = `${total} ${cart.currency}`;
}
