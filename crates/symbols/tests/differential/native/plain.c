/* Plain C beside it: no mangled names, a static inline function, a function of one line. */
extern volatile int sink;

static inline int clamp(int value, int low, int high) { return value < low ? low : value > high ? high : value; }

int plain_mix(int left, int right) {
  int sum = 0;
  while (left != right) {
    sum += clamp(left - right, -8, 8);
    left = (left + right) / 2;
    sink = sum;
    if (left + 1 == right) break;
  }
  return sum;
}

int plain_one(void) { return sink; }
