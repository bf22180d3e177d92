/*
 * The interpolation kernels as plain C loops on a flat array, float32 throughout: what a compiler makes of them; and
 * combinations of four frames in float64, in vectors as long as the processor has, or of 128 bits as WebAssembly has.
 *
 * usage: loops NODES POINTS FIELD RANDOM SORTED, then lines "case order points" on standard input; answers each with
 * "seconds u v w": the time of a pass over the first points and the velocity at the first of them. If more points are
 * asked for than there are, it takes several passes.
 */
#include <immintrin.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PAD 8

struct grid {
  int nodes;
  double spacing;
  /* [z][y][x][3], rows longer by PAD repeated nodes. */
  const float *field;
  /* First element of plane and row, for indices that run over the seam by up to PAD. */
  size_t plane[4096 + PAD], row[4096 + PAD];
};

static float inverse[9][8];

static void prepare(void) {
  for (int order = 4; order <= 8; order += 2)
    for (int k = 0; k < order; k++) {
      double product = 1;
      for (int m = 0; m < order; m++)
        if (m != k) product *= k - m;
      inverse[order][k] = (float)(1 / product);
    }
}

static inline __attribute__((always_inline)) int weigh(const struct grid *g, int order, double x, float *w) {
  double s = x / g->spacing, cell = floor(s);
  float t = (float)(s - cell) + (float)(order / 2 - 1), product = 1;
  for (int k = 0; k < order; k++) {
    w[k] = product;
    product *= t - (float)k;
  }
  product = 1;
  for (int k = order - 1; k >= 0; k--) {
    w[k] *= product * inverse[order][k];
    product *= t - (float)k;
  }
  int first = ((int)cell - order / 2 + 1) % g->nodes;
  return first < 0 ? first + g->nodes : first;
}

/* The sum over x first, then y, then z: the loops as the formula is written. */
static inline __attribute__((always_inline)) void dot(const struct grid *g, int order, const double *at, float *out) {
  float x[8], y[8], z[8];
  int i0 = weigh(g, order, at[0], x), j0 = weigh(g, order, at[1], y), k0 = weigh(g, order, at[2], z);
  float u = 0, v = 0, w = 0;
  for (int k = 0; k < order; k++) {
    float pu = 0, pv = 0, pw = 0;
    for (int j = 0; j < order; j++) {
      const float *restrict f = g->field + g->plane[k0 + k] + g->row[j0 + j] + 3 * i0;
      float a = 0, b = 0, c = 0;
      for (int i = 0; i < order; i++) {
        a += x[i] * f[3 * i];
        b += x[i] * f[3 * i + 1];
        c += x[i] * f[3 * i + 2];
      }
      pu += y[j] * a;
      pv += y[j] * b;
      pw += y[j] * c;
    }
    u += z[k] * pu;
    v += z[k] * pv;
    w += z[k] * pw;
  }
  out[0] = u;
  out[1] = v;
  out[2] = w;
}

/* Whole rows weighted and added first, x last: the form that vectorises, and the one our own module uses. */
static inline __attribute__((always_inline)) void rows(const struct grid *g, int order, const double *at, float *out) {
  float x[8], y[8], z[8], sum[24] = {0};
  int i0 = weigh(g, order, at[0], x), j0 = weigh(g, order, at[1], y), k0 = weigh(g, order, at[2], z);
  for (int k = 0; k < order; k++)
    for (int j = 0; j < order; j++) {
      const float *restrict f = g->field + g->plane[k0 + k] + g->row[j0 + j] + 3 * i0;
      float weight = z[k] * y[j];
      for (int i = 0; i < 3 * order; i++) sum[i] += weight * f[i];
    }
  float u = 0, v = 0, w = 0;
  for (int i = 0; i < order; i++) {
    u += x[i] * sum[3 * i];
    v += x[i] * sum[3 * i + 1];
    w += x[i] * sum[3 * i + 2];
  }
  out[0] = u;
  out[1] = v;
  out[2] = w;
}

/* Four frames of the same values; their weights add up to 1. */
static const float *frame[4];
static const double time_weights[4] = {-0.0625, 0.5625, 0.5625, -0.0625};

static inline __attribute__((always_inline)) int weigh_double(const struct grid *g, int order, double x, double *w) {
  double s = x / g->spacing, cell = floor(s), t = s - cell + (order / 2 - 1);
  for (int k = 0; k < order; k++) {
    w[k] = 1;
    for (int m = 0; m < order; m++)
      if (m != k) w[k] *= (t - m) / (k - m);
  }
  int first = ((int)cell - order / 2 + 1) % g->nodes;
  return first < 0 ? first + g->nodes : first;
}

typedef float f4 __attribute__((vector_size(16), aligned(4), may_alias));
typedef float f8 __attribute__((vector_size(32), aligned(4), may_alias));
typedef double d2 __attribute__((vector_size(16)));
typedef double d4 __attribute__((vector_size(32)));
typedef double d8 __attribute__((vector_size(64)));

#define GET2(at) ((d2)_mm_cvtps_pd(_mm_castsi128_ps(_mm_loadl_epi64((const __m128i *)(at)))))
#define GET4(at) __builtin_convertvector(*(const f4 *)(at), d4)
#define GET8(at) __builtin_convertvector(*(const f8 *)(at), d8)

/* Parts of a row, each (type, its load and conversion, first value): whole rows in long vectors, twelve values in short ones. */
#define LONG4(part) part(d4, GET4, 0) part(d4, GET4, 4) part(d4, GET4, 8)
#define LONG6(part) part(d8, GET8, 0) part(d8, GET8, 8) part(d2, GET2, 16)
#define LONG8(part) part(d8, GET8, 0) part(d8, GET8, 8) part(d8, GET8, 16)
#define SHORT6(part) part(d2, GET2, 0) part(d2, GET2, 2) part(d2, GET2, 4)
#define SHORT12(part) SHORT6(part) part(d2, GET2, 6) part(d2, GET2, 8) part(d2, GET2, 10)

#define DECLARE(type, get, i) type sum##i = {0};
#define ADD(type, get, i)                                                                                       \
  sum##i += weight * (w0 * get(frame[0] + p + i) + w1 * get(frame[1] + p + i) + w2 * get(frame[2] + p + i) +    \
                      w3 * get(frame[3] + p + i));
#define ADD_ONE(type, get, i) sum##i += weight * get(frame[0] + p + i);
#define KEEP(type, get, i) memcpy(sums + from + i, &sum##i, sizeof sum##i);
/* Sums over y and z of a part of the rows, at each node over the frames first, or of one frame. */
#define SUM(parts, first, add)                                                                                     \
  {                                                                                                             \
    const int from = first;                                                                                     \
    parts(DECLARE) for (int k = 0; k < order; k++) for (int j = 0; j < order; j++) {                            \
      size_t p = g->plane[k0 + k] + g->row[j0 + j] + 3 * i0 + from;                                             \
      double weight = z[k] * y[j];                                                                              \
      parts(add)                                                                                                \
    }                                                                                                           \
    parts(KEEP)                                                                                                 \
  }
#define POINTS(form, nodes, before, all)                                                                        \
  static void form##nodes(const struct grid *g, const double *positions, long points, float *out) {             \
    enum { order = nodes };                                                                                     \
    const double w0 = time_weights[0], w1 = time_weights[1], w2 = time_weights[2], w3 = time_weights[3];        \
    (void)w0, (void)w1, (void)w2, (void)w3;                                                                     \
    for (long point = 0; point < points; point++, positions += 3, out += 3) {                                   \
      double x[8], y[8], z[8], sums[24], total[3] = {0};                                                        \
      int i0 = weigh_double(g, order, positions[0], x), j0 = weigh_double(g, order, positions[1], y);           \
      int k0 = weigh_double(g, order, positions[2], z);                                                         \
      before;                                                                                                   \
      all;                                                                                                      \
      for (int i = 0; i < 3 * order; i++) total[i % 3] += x[i / 3] * sums[i];                                   \
      for (int c = 0; c < 3; c++) out[c] = (float)total[c];                                                     \
    }                                                                                                           \
  }
/* Reads a value of each line of the rows of all frames before they are added, as our module does. */
static volatile int kept;
static inline __attribute__((always_inline)) void touch(const struct grid *g, int order, int i0, int j0, int k0) {
  int touched = 0;
  for (int k = 0; k < order; k++)
    for (int j = 0; j < order; j++)
      for (int f = 0; f < 4; f++) {
        const char *row = (const char *)(frame[f] + g->plane[k0 + k] + g->row[j0 + j] + 3 * i0);
        for (int at = 0; at < 12 * order; at += 64) touched |= row[at];
        touched |= row[12 * order - 1];
      }
  kept = touched;
}
#define LONG_ROWS4(add) SUM(LONG4, 0, add)
#define LONG_ROWS6(add) SUM(LONG6, 0, add)
#define LONG_ROWS8(add) SUM(LONG8, 0, add)
#define SHORT_ROWS4(add) SUM(SHORT12, 0, add)
#define SHORT_ROWS6(add) SUM(SHORT12, 0, add) SUM(SHORT6, 12, add)
#define SHORT_ROWS8(add) SUM(SHORT12, 0, add) SUM(SHORT12, 12, add)
#define FRAMES(nodes)                                                                   \
  POINTS(long_one, nodes, , LONG_ROWS##nodes(ADD_ONE))                                  \
  POINTS(long_frames, nodes, , LONG_ROWS##nodes(ADD))                                   \
  POINTS(long_ahead, nodes, touch(g, nodes, i0, j0, k0), LONG_ROWS##nodes(ADD))         \
  POINTS(short_one, nodes, , SHORT_ROWS##nodes(ADD_ONE))                                \
  POINTS(short_frames, nodes, , SHORT_ROWS##nodes(ADD))                                 \
  POINTS(short_ahead, nodes, touch(g, nodes, i0, j0, k0), SHORT_ROWS##nodes(ADD))
FRAMES(4)
FRAMES(6)
FRAMES(8)

#define PASS(form, order)                                                                       \
  static void form##order(const struct grid *g, const double *positions, long points, float *out) { \
    for (long p = 0; p < points; p++) form(g, order, positions + 3 * p, out + 3 * p);           \
  }
PASS(dot, 4)
PASS(dot, 6)
PASS(dot, 8)
PASS(rows, 4)
PASS(rows, 6)
PASS(rows, 8)

static const struct {
  const char *name;
  void (*pass)(const struct grid *, const double *, long, float *);
} cases[] = {{"lag4-dot", dot4}, {"lag6-dot", dot6}, {"lag8-dot", dot8},
             {"lag4-rows", rows4}, {"lag6-rows", rows6}, {"lag8-rows", rows8},
#define NAMED(nodes)                                                                                            \
  {"lag" #nodes "-one", long_one##nodes}, {"lag" #nodes "-frames", long_frames##nodes},                         \
      {"lag" #nodes "-frames-ahead", long_ahead##nodes}, {"lag" #nodes "-one128", short_one##nodes},            \
      {"lag" #nodes "-frames128", short_frames##nodes}, {"lag" #nodes "-frames128-ahead", short_ahead##nodes}
             NAMED(4), NAMED(6), NAMED(8)};

static void *load(const char *file, size_t bytes) {
  FILE *in = fopen(file, "rb");
  void *data = malloc(bytes);
  if (!in || !data || fread(data, 1, bytes, in) != bytes) {
    fprintf(stderr, "cannot read %s\n", file);
    exit(1);
  }
  fclose(in);
  return data;
}

static float *pad(const float *dense, int nodes) {
  size_t length = 3 * ((size_t)nodes + PAD);
  float *field = malloc(sizeof(float) * nodes * nodes * length);
  for (size_t line = 0; line < (size_t)nodes * nodes; line++)
    for (int i = 0; i < nodes + PAD; i++)
      memcpy(field + line * length + 3 * i, dense + 3 * (line * nodes + i % nodes), 3 * sizeof(float));
  return field;
}

static float *copied(const float *field, int nodes) {
  size_t bytes = sizeof(float) * nodes * nodes * 3 * ((size_t)nodes + PAD);
  return memcpy(malloc(bytes), field, bytes);
}

int main(int count, char **argument) {
  if (count != 6) return 2;
  static struct grid g;
  long points = atol(argument[2]);
  g.nodes = atoi(argument[1]);
  g.spacing = 2 * M_PI / g.nodes;
  float *dense = load(argument[3], sizeof(float) * 3 * g.nodes * g.nodes * g.nodes);
  g.field = pad(dense, g.nodes);
  frame[0] = g.field;
  free(dense);
  for (int i = 0; i < g.nodes + PAD; i++) {
    g.row[i] = (size_t)(i % g.nodes) * 3 * (g.nodes + PAD);
    g.plane[i] = g.row[i] * g.nodes;
  }
  double *random = load(argument[4], sizeof(double) * 3 * points);
  double *sorted = load(argument[5], sizeof(double) * 3 * points);
  float *out = calloc(3 * points, sizeof(float));
  prepare();
  char name[32], order[32];
  long some;
  while (scanf("%31s %31s %ld", name, order, &some) == 3) {
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
      if (strcmp(name, cases[c].name) != 0) continue;
      struct timespec start, end;
      int several = strstr(name, "frames") != NULL;
      for (int f = 1; several && f < 4; f++)
        if (frame[f] == NULL) frame[f] = copied(g.field, g.nodes);
      /* Four frames exceed the caches, so they and one beside them are measured in CPU, however busy the machine is. */
      clockid_t clock = several || strstr(name, "one") ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC;
      clock_gettime(clock, &start);
      for (long left = some; left > 0; left -= points)
        cases[c].pass(&g, strcmp(order, "sorted") == 0 ? sorted : random, left < points ? left : points, out);
      clock_gettime(clock, &end);
      double seconds = (double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec);
      printf("%.9f %.7g %.7g %.7g\n", seconds, out[0], out[1], out[2]);
      fflush(stdout);
    }
  }
  return 0;
}
