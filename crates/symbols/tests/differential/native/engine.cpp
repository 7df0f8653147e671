// Code with something of everything that debug information describes: namespaces, templates, lambdas, inlined chains,
// recursion, virtual calls, a loop that is unrolled. It links nothing, so that it is built for every target alike.
typedef unsigned long size_type;
extern "C" volatile int sink;
volatile int sink;

namespace harbour {

static inline __attribute__((always_inline)) int knot(int value) {
  sink = value;
  return value * 3 + 1;
}

static inline __attribute__((always_inline)) int rope(int value) { return knot(value) ^ knot(value >> 2); }

template <typename T, int Size> struct Crate {
  T items[Size];
  int used = 0;

  __attribute__((always_inline)) bool push(T item) {
    if (used == Size) return false;
    items[used++] = item;
    return true;
  }

  template <typename F> __attribute__((noinline)) T fold(T start, F combine) const {
    for (int i = 0; i < used; ++i) start = combine(start, items[i]);
    return start;
  }
};

class Vessel {
public:
  explicit Vessel(int berth) : berth(berth) {}
  virtual int sail(int knots) = 0;
  int moor(int depth) {
    if (depth <= 0) return berth;
    return rope(moor(depth - 1)) + depth;
  }

protected:
  int berth;
};

class Ferry final : public Vessel {
public:
  using Vessel::Vessel;
  int sail(int knots) override {
    Crate<long, 8> crate;
    for (int i = 0; i < knots; ++i)
      if (!crate.push(rope(i) + berth)) break;
    return static_cast<int>(crate.fold(0, [knots](long sum, long item) { return sum + knot(int(item)) * knots; }));
  }
};

namespace {
int weigh(const char *text, size_type size) {
  int sum = 0;
  for (size_type i = 0; i < size; ++i) {
    switch (text[i]) {
    case 'a': sum += knot(1); break;
    case 'b': sum -= rope(2); break;
    case '\n': continue;
    default: sum ^= text[i];
    }
  }
  return sum;
}
} // namespace

int operator+(const Vessel &, const Ferry &) { return rope(7); }

} // namespace harbour

extern "C" int harbour_enter(int knots) {
  harbour::Ferry ferry(knots);
  harbour::Vessel &vessel = ferry;
  return vessel.sail(knots) + ferry.moor(knots & 7) + harbour::weigh("abc\nab", 6) + (vessel + ferry);
}
