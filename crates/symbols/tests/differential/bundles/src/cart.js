// A cart with enough in it for a bundler to rename, inline and fold.
export class EmptyCartError extends Error {
  constructor(owner) {
    super(`the cart of ${owner} is empty`);
    this.owner = owner;
  }
}

export class Cart {
  #lines = new Map();

  constructor(owner, { currency = 'EUR' } = {}) {
    this.owner = owner;
    this.currency = currency;
  }

  add(article, count = 1) {
    const line = this.#lines.get(article.sku) ?? { article, count: 0 };
    line.count += count;
    this.#lines.set(article.sku, line);
    return this;
  }

  *lines() {
    for (const [sku, { article, count }] of this.#lines) yield { sku, price: article.price, count };
  }

  async total(rates) {
    let sum = 0;
    for (const { price, count } of this.lines()) sum += price * count;
    if (sum === 0) throw new EmptyCartError(this.owner);
    const rate = await rates?.(this.currency);
    return Math.round(sum * (rate ?? 1) * 100) / 100;
  }
}
