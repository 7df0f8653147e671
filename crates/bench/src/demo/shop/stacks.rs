//! Stack traces of the shop's exceptions.

/// `TotalMismatch` in checkout.
pub const PYTHON_STACK: &str = "  File \"/app/orders/views.py\", line 88, in place_order\n    total = verify_total(cart, prices)\n  File \"/app/orders/totals.py\", line 41, in verify_total\n    raise TotalMismatch(f\"order total {total} does not match the cart\")";
/// `CartInvalid` in checkout.
pub const CART_STACK: &str = "  File \"/app/orders/views.py\", line 61, in place_order\n    prices = price_cart(cart)\n  File \"/app/orders/prices.py\", line 27, in price_cart\n    raise CartInvalid(f\"cart {cart.id} has no price\")";
/// `CardDeclined` in payments.
pub const JAVA_STACK: &str = "\tat com.shop.payments.Charges.charge(Charges.java:112)\n\tat com.shop.payments.ChargeResource.post(ChargeResource.java:57)\n\tat jakarta.servlet.http.HttpServlet.service(HttpServlet.java:590)";
/// `GatewayUnavailable` in payments.
pub const GATEWAY_STACK: &str = "\tat com.shop.payments.Gateway.authorize(Gateway.java:84)\n\tat com.shop.payments.Charges.charge(Charges.java:98)\n\tat com.shop.payments.ChargeResource.post(ChargeResource.java:57)\n\tat jakarta.servlet.http.HttpServlet.service(HttpServlet.java:590)";
/// Exceptions of the worker and of console commands.
pub const PHP_STACK: &str = "#0 /app/src/Worker/Handler.php(64): App\\Worker\\Handler->run(Object(App\\Message))\n#1 /app/vendor/symfony/messenger/Worker.php(189): App\\Worker\\Handler->__invoke()\n#2 {main}";
