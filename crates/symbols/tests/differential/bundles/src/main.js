import { Cart, EmptyCartError } from './cart.js';
import { greeting, languages, table } from './text.js';

const catalogue = Array.from({ length: 12 }, (_, i) => ({ sku: `sku-${i}`, price: (i * 7) % 5, name: `Article ${i}` }));

function checkout(owner, skus) {
  const cart = new Cart(owner);
  for (const sku of skus) {
    const article = catalogue.find((known) => known.sku === sku);
    if (!article) throw new RangeError(`no article ${sku}`);
    cart.add(article);
  }
  return cart.total(async (currency) => (currency === 'EUR' ? 1 : undefined));
}

globalThis.shop = {
  async run(owner, ...skus) {
    try {
      return table([[greeting('de'), languages().length], [owner, await checkout(owner, skus)]]);
    } catch (error) {
      if (error instanceof EmptyCartError) return `nothing for ${error.owner}`;
      throw error;
    } finally {
      globalThis.visits = (globalThis.visits ?? 0) + 1;
    }
  },
};
